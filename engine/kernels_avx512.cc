#include <immintrin.h>

#include "kernels_common.h"

namespace halfword {
namespace {

struct Avx512 {};

/// The sums of `Rows` rows for two groups of outputs stay in registers while the inputs pass by.
///
/// The inputs are raised by 128, so the sums start at the offsets, which take that back.
template <int Rows>
void multiply_block(const Int8Matrix& matrix, const std::uint8_t* inputs, std::int32_t* outputs) {
  const std::size_t width = matrix.inputs;
  for (std::size_t output = 0; output < matrix.outputs; output += 2 * output_group) {
    const std::int8_t* first = matrix.weights.data() + output * width;
    const std::int8_t* second = first + output_group * width;
    __m512i left[Rows];
    __m512i right[Rows];
    const __m512i left_start = _mm512_load_si512(matrix.offsets.data() + output);
    const __m512i right_start = _mm512_load_si512(matrix.offsets.data() + output + output_group);
#pragma GCC unroll 16
    for (int row = 0; row < Rows; ++row) {
      left[row] = left_start;
      right[row] = right_start;
    }
    for (std::size_t input = 0; input < width; input += input_group) {
      const __m512i left_weights = _mm512_load_si512(first + input * output_group);
      const __m512i right_weights = _mm512_load_si512(second + input * output_group);
#pragma GCC unroll 16
      for (int row = 0; row < Rows; ++row) {
        std::int32_t lane;
        __builtin_memcpy(&lane, inputs + static_cast<std::size_t>(row) * width + input, sizeof(lane));
        const __m512i values = _mm512_set1_epi32(lane);
        left[row] = _mm512_dpbusd_epi32(left[row], values, left_weights);
        right[row] = _mm512_dpbusd_epi32(right[row], values, right_weights);
      }
    }
#pragma GCC unroll 16
    for (int row = 0; row < Rows; ++row) {
      std::int32_t* target = outputs + static_cast<std::size_t>(row) * matrix.outputs + output;
      _mm512_storeu_si512(target, left[row]);
      _mm512_storeu_si512(target + output_group, right[row]);
    }
  }
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

}  // namespace

extern const Kernels avx512_kernels;
const Kernels avx512_kernels = make_kernels<Avx512>("avx512-vnni", multiply_int8);

}  // namespace halfword
