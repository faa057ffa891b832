#include <immintrin.h>

#include "lm/kernels/common.h"

namespace halfword {
namespace {

constexpr __mmask16 all = 0xFFFF;

__mmask16 first_lanes(std::size_t count) { return static_cast<__mmask16>((1U << count) - 1U); }

struct Avx512 : AnySet<Avx512, 64> {
  static Floats fused(Floats a, Floats b, Floats c) { return _mm512_fmadd_ps(a, b, c); }
  static Floats larger(Floats a, Floats b) { return _mm512_maskz_max_ps(all, a, b); }
  static Floats smaller(Floats a, Floats b) { return _mm512_maskz_min_ps(all, a, b); }
  static Floats read_some(const float* values, std::size_t count) {
    return _mm512_maskz_loadu_ps(first_lanes(count), values);
  }
  static void write_some(Floats vector, std::size_t count, float* values) {
    _mm512_mask_storeu_ps(values, first_lanes(count), vector);
  }
  template <typename Series>
  static Floats split_power(Floats x, const Series& series) {
    const Floats whole = _mm512_maskz_roundscale_ps(all, x, _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC);
    return _mm512_maskz_scalef_ps(all, series(x - whole), whole);
  }
};

/// `Rows` rows × `Groups` groups of outputs; the sums stay in registers during the loop over the inputs.
///
/// The inputs are stored as value + 128. The sums start at the offsets, which compensate for this.
template <std::size_t Rows, std::size_t Groups>
void multiply_groups(const Int8Matrix& matrix, std::size_t output, const std::uint8_t* inputs, std::int32_t* outputs) {
  const std::size_t width = matrix.inputs;
  const std::int8_t* weights = matrix.weights.data() + output * width;
  __m512i sums[Rows][Groups];
#pragma GCC unroll 16
  for (std::size_t group = 0; group < Groups; ++group) {
    const __m512i offset = _mm512_load_si512(matrix.offsets.data() + output + group * output_group);
#pragma GCC unroll 16
    for (std::size_t row = 0; row < Rows; ++row) sums[row][group] = offset;
  }
  for (std::size_t input = 0; input < width; input += input_group) {
    __m512i values[Rows];
#pragma GCC unroll 16
    for (std::size_t row = 0; row < Rows; ++row) {
      std::int32_t lane;
      __builtin_memcpy(&lane, inputs + row * width + input, sizeof(lane));
      values[row] = _mm512_set1_epi32(lane);
    }
#pragma GCC unroll 16
    for (std::size_t group = 0; group < Groups; ++group) {
      const __m512i columns = _mm512_load_si512(weights + (group * width + input) * output_group);
#pragma GCC unroll 16
      for (std::size_t row = 0; row < Rows; ++row) {
        sums[row][group] = _mm512_dpbusd_epi32(sums[row][group], values[row], columns);
      }
    }
  }
#pragma GCC unroll 16
  for (std::size_t row = 0; row < Rows; ++row) {
#pragma GCC unroll 16
    for (std::size_t group = 0; group < Groups; ++group) {
      _mm512_storeu_si512(outputs + row * matrix.outputs + output + group * output_group, sums[row][group]);
    }
  }
}

/// All outputs of `Rows` rows. With few rows, many groups are computed at a time, so that the weights are read in many
/// parallel streams.
template <std::size_t Rows>
void multiply_block(const Int8Matrix& matrix, const std::uint8_t* inputs, std::int32_t* outputs) {
  constexpr std::size_t groups = Rows <= 1 ? 16 : Rows <= 3 ? 8 : Rows <= 6 ? 4 : 2;
  std::size_t output = 0;
  for (; output + groups * output_group <= matrix.outputs; output += groups * output_group) {
    multiply_groups<Rows, groups>(matrix, output, inputs, outputs);
  }
  for (; output + 2 * output_group <= matrix.outputs; output += 2 * output_group) {
    multiply_groups<Rows, 2>(matrix, output, inputs, outputs);
  }
  if (output < matrix.outputs) multiply_groups<Rows, 1>(matrix, output, inputs, outputs);
}

constexpr std::size_t most_rows = 12;
using Block = void (*)(const Int8Matrix&, const std::uint8_t*, std::int32_t*);
constexpr Block blocks[most_rows + 1] = {nullptr,           multiply_block<1>, multiply_block<2>,  multiply_block<3>,
                                         multiply_block<4>, multiply_block<5>, multiply_block<6>,  multiply_block<7>,
                                         multiply_block<8>, multiply_block<9>, multiply_block<10>, multiply_block<11>,
                                         multiply_block<12>};

void multiply_int8(const Int8Matrix& matrix, const std::uint8_t* inputs, std::size_t rows, std::int32_t* outputs) {
  while (rows > 0) {
    // Passes of equal height: 13 rows as 7 and 6, not as 12 and 1.
    const std::size_t passes = (rows + most_rows - 1) / most_rows;
    const std::size_t count = (rows + passes - 1) / passes;
    blocks[count](matrix, inputs, outputs);
    inputs += count * matrix.inputs;
    outputs += count * matrix.outputs;
    rows -= count;
  }
}

std::size_t int8_products() {
  constexpr std::size_t rounds = 20'000;
  constexpr std::size_t chains = 16;  // independent sums, more than the latency of the instruction
  const __m512i values = _mm512_set1_epi8(3);
  __m512i sums[chains];
#pragma GCC unroll 16
  for (std::size_t chain = 0; chain < chains; ++chain) sums[chain] = _mm512_setzero_si512();
  for (std::size_t round = 0; round < rounds; ++round) {
#pragma GCC unroll 16
    for (std::size_t chain = 0; chain < chains; ++chain) {
      // The compiler must not remove or combine these; they are only there to be timed.
      asm volatile("vpdpbusd %1, %1, %0" : "+v"(sums[chain]) : "v"(values));
    }
  }
  return rounds * chains * output_group * input_group;
}

}  // namespace

extern const Kernels avx512_kernels;
const Kernels avx512_kernels = make_kernels<Avx512>("avx512-vnni", multiply_int8, int8_products);

}  // namespace halfword
