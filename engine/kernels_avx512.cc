#include <immintrin.h>

#include "kernels_common.h"

namespace halfword {
namespace {

struct Avx512 {};

/// The sums of `Rows` rows for `Groups` groups of outputs stay in registers while the inputs pass by.
///
/// The inputs are raised by 128, so the sums start at the offsets, which take that back.
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
    __m512i columns[Groups];
#pragma GCC unroll 16
    for (std::size_t group = 0; group < Groups; ++group) {
      columns[group] = _mm512_load_si512(weights + (group * width + input) * output_group);
    }
#pragma GCC unroll 16
    for (std::size_t row = 0; row < Rows; ++row) {
      std::int32_t lane;
      __builtin_memcpy(&lane, inputs + row * width + input, sizeof(lane));
      const __m512i values = _mm512_set1_epi32(lane);
#pragma GCC unroll 16
      for (std::size_t group = 0; group < Groups; ++group) {
        sums[row][group] = _mm512_dpbusd_epi32(sums[row][group], values, columns[group]);
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

/// All outputs of `Rows` rows. Few rows take many groups at a time, so that the weights come in by many streams.
template <std::size_t Rows>
void multiply_block(const Int8Matrix& matrix, const std::uint8_t* inputs, std::int32_t* outputs) {
  constexpr std::size_t groups = Rows <= 2 ? 8 : Rows <= 6 ? 4 : 2;
  std::size_t output = 0;
  for (; output + groups * output_group <= matrix.outputs; output += groups * output_group) {
    multiply_groups<Rows, groups>(matrix, output, inputs, outputs);
  }
  for (; output < matrix.outputs; output += 2 * output_group) {
    multiply_groups<Rows, 2>(matrix, output, inputs, outputs);
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

std::size_t int8_products() {
  constexpr std::size_t rounds = 20'000;
  constexpr std::size_t chains = 16;  // more than the instruction's latency
  const __m512i values = _mm512_set1_epi8(3);
  __m512i sums[chains];
#pragma GCC unroll 16
  for (std::size_t chain = 0; chain < chains; ++chain) sums[chain] = _mm512_setzero_si512();
  for (std::size_t round = 0; round < rounds; ++round) {
#pragma GCC unroll 16
    for (std::size_t chain = 0; chain < chains; ++chain) {
      // The compiler must neither fold nor drop what is only there to be timed.
      asm volatile("vpdpbusd %1, %1, %0" : "+v"(sums[chain]) : "v"(values));
    }
  }
  return rounds * chains * output_group * input_group;
}

}  // namespace

extern const Kernels avx512_kernels;
const Kernels avx512_kernels = make_kernels<Avx512>("avx512-vnni", multiply_int8, int8_products);

}  // namespace halfword
