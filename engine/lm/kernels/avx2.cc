#include <immintrin.h>

#include "lm/kernels/common.h"

namespace halfword {
namespace {

struct Avx2 : AnySet<Avx2, 32> {
  static Floats fused(Floats a, Floats b, Floats c) { return _mm256_fmadd_ps(a, b, c); }
  static Floats larger(Floats a, Floats b) { return _mm256_max_ps(a, b); }
  static Floats smaller(Floats a, Floats b) { return _mm256_min_ps(a, b); }
};

constexpr std::size_t quarter = 4;  // outputs per vector: 4 outputs × 4 products of 16 bits

/// Four inputs as 16-bit numbers, repeated four times.
__m256i spread(const std::uint8_t* inputs) {
  std::int32_t lane;
  __builtin_memcpy(&lane, inputs, sizeof(lane));
  const __m128i wide = _mm_cvtepu8_epi16(_mm_cvtsi32_si128(lane));
  return _mm256_sub_epi16(_mm256_broadcastq_epi64(wide), _mm256_set1_epi16(128));
}

/// Add the two halves of each output's sum: (a0 a1 b0 b1 | c0 c1 d0 d1) → (a b c d).
__m128i join(__m256i sums) {
  const __m256i pairs = _mm256_hadd_epi32(sums, sums);
  return _mm_unpacklo_epi64(_mm256_castsi256_si128(pairs), _mm256_extracti128_si256(pairs, 1));
}

/// `Rows` rows of one group of 16 outputs. Products of 16-bit numbers are exact; products of bytes would saturate.
template <int Rows>
void multiply_group(const Int8Matrix& matrix, std::size_t output, const std::uint8_t* inputs, std::int32_t* outputs) {
  const std::size_t width = matrix.inputs;
  for (std::size_t part = 0; part < output_group; part += 2 * quarter) {
    const std::int8_t* weights = matrix.weights.data() + output * width + part * input_group;
    __m256i left[Rows];
    __m256i right[Rows];
    for (int row = 0; row < Rows; ++row) left[row] = right[row] = _mm256_setzero_si256();
    for (std::size_t input = 0; input < width; input += input_group) {
      const auto* place = reinterpret_cast<const __m128i*>(weights + input * output_group);
      const __m256i left_weights = _mm256_cvtepi8_epi16(_mm_load_si128(place));
      const __m256i right_weights = _mm256_cvtepi8_epi16(_mm_load_si128(place + 1));
      for (int row = 0; row < Rows; ++row) {
        const __m256i values = spread(inputs + static_cast<std::size_t>(row) * width + input);
        left[row] = _mm256_add_epi32(left[row], _mm256_madd_epi16(values, left_weights));
        right[row] = _mm256_add_epi32(right[row], _mm256_madd_epi16(values, right_weights));
      }
    }
    for (int row = 0; row < Rows; ++row) {
      auto* target = outputs + static_cast<std::size_t>(row) * matrix.outputs + output + part;
      _mm_storeu_si128(reinterpret_cast<__m128i*>(target), join(left[row]));
      _mm_storeu_si128(reinterpret_cast<__m128i*>(target + quarter), join(right[row]));
    }
  }
}

}  // namespace

extern const Kernels avx2_kernels;
const Kernels avx2_kernels = make_kernels<Avx2>("avx2", multiply_in_groups<multiply_group<4>, multiply_group<1>>);

}  // namespace halfword
