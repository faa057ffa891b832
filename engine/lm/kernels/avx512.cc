#include <immintrin.h>

#include "lm/kernels/common.h"

namespace halfword {
namespace {

struct Avx512 {};

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

/// e^x with x clamped to `limit`: like `exponential` of the common kernels, in fewer instructions.
__m512 exponentials(__m512 x, float limit) {
  x = _mm512_maskz_min_ps(0xFFFF, x, _mm512_set1_ps(limit));
  const __m512 scaled = _mm512_mul_ps(x, _mm512_set1_ps(1.44269504F));
  const __m512 whole = _mm512_maskz_roundscale_ps(0xFFFF, scaled, _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC);
  const __m512 rest = _mm512_sub_ps(scaled, whole);
  __m512 series = _mm512_set1_ps(1.3266970636e-3F);
  for (const float term : {9.6754599363e-3F, 5.5507425219e-2F, 2.4022121727e-1F, 6.9314694405e-1F, 1.0000001192F}) {
    series = _mm512_fmadd_ps(series, rest, _mm512_set1_ps(term));
  }
  return _mm512_maskz_scalef_ps(0xFFFF, series, whole);
}

/// a / b, exact except for the last bit or two; faster than the division instruction.
__m512 quotients(__m512 a, __m512 b) {
  const __m512 rough = _mm512_maskz_rcp14_ps(0xFFFF, b);
  const __m512 rest = _mm512_fnmadd_ps(b, rough, _mm512_set1_ps(1.0F));
  return _mm512_mul_ps(a, _mm512_fmadd_ps(rough, rest, rough));
}

/// A mask of those of the 16 lanes from `place` on that are below `size`.
__mmask16 lanes_within(std::size_t place, std::size_t size) {
  return static_cast<__mmask16>(size - place >= output_group ? 0xFFFFU : (1U << (size - place)) - 1U);
}

/// One gate of 16 cells, normalised, scaled and shifted.
__m512 gate(const float* gates, const GateNorms& norms, const Norm& norm, std::size_t place, __mmask16 lanes) {
  const __m512 value = _mm512_maskz_loadu_ps(lanes, gates + place);
  const __m512 normed = _mm512_mul_ps(_mm512_sub_ps(value, _mm512_set1_ps(norm.mean)), _mm512_set1_ps(norm.factor));
  return _mm512_fmadd_ps(normed, _mm512_maskz_loadu_ps(lanes, norms.scale + place),
                         _mm512_maskz_loadu_ps(lanes, norms.bias + place));
}

/// The common kernels explain the formulas.
void lstm_cell_16(const float* gates, GateNorms norms, std::size_t hidden, const float* cell, float* new_cell,
                  float* new_hidden) {
  constexpr float steep = 30.0F;
  const __m512 one = _mm512_set1_ps(1.0F);
  const Norm forget = norm_of<Avx512>(gates, hidden);
  const Norm output = norm_of<Avx512>(gates + hidden, hidden);
  const Norm candidate = norm_of<Avx512>(gates + 2 * hidden, hidden);
  for (std::size_t i = 0; i < hidden; i += output_group) {
    const __mmask16 lanes = lanes_within(i, hidden);
    const __m512 f = gate(gates, norms, forget, i, lanes);
    const __m512 o = gate(gates, norms, output, hidden + i, lanes);
    const __m512 g = gate(gates, norms, candidate, 2 * hidden + i, lanes);
    const __m512 a = exponentials(_mm512_sub_ps(_mm512_set1_ps(-1.0F), f), steep);
    const __m512 b = exponentials(_mm512_add_ps(g, g), steep);
    const __m512 above = _mm512_fmadd_ps(_mm512_maskz_loadu_ps(lanes, cell + i), _mm512_add_ps(b, one),
                                         _mm512_mul_ps(a, _mm512_sub_ps(b, one)));
    const __m512 next = quotients(above, _mm512_mul_ps(_mm512_add_ps(one, a), _mm512_add_ps(b, one)));
    const __m512 d = exponentials(_mm512_add_ps(next, next), steep);
    const __m512 e = exponentials(_mm512_sub_ps(_mm512_setzero_ps(), o), steep);
    const __m512 below = _mm512_mul_ps(_mm512_add_ps(one, e), _mm512_add_ps(d, one));
    _mm512_mask_storeu_ps(new_cell + i, lanes, next);
    _mm512_mask_storeu_ps(new_hidden + i, lanes, quotients(_mm512_sub_ps(d, one), below));
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
const Kernels avx512_kernels = [] {
  Kernels kernels = make_kernels<Avx512>("avx512-vnni", multiply_int8, int8_products);
  kernels.lstm_cell = lstm_cell_16;
  return kernels;
}();

}  // namespace halfword
