#include <wasm_simd128.h>

#include "lm/kernels/common.h"

namespace halfword {
namespace {

struct Simd128 : AnySet<Simd128, 16> {};

constexpr std::size_t lanes = 4;                            // outputs of one vector
constexpr std::size_t stride = output_group * input_group;  // bytes of weights for four inputs of a whole group
constexpr std::size_t vector_bytes = lanes * input_group;   // those of one vector

/// The inputs as signed 16-bit numbers, because the dot product of this instruction set takes such numbers. WebAssembly
/// without threads needs only one buffer.
AlignedVector<std::int16_t>& widened(const std::uint8_t* inputs, std::size_t size) {
  static AlignedVector<std::int16_t> wide;
  if (wide.size() < size) wide.resize(size);
  for (std::size_t i = 0; i < size; ++i) wide[i] = static_cast<std::int16_t>(inputs[i] - 128);
  return wide;
}

/// Four outputs of `Rows` rows. A sum of four inputs × weights stays in two halves until the end.
template <int Rows>
void multiply_vector(const std::int8_t* weights, const std::int16_t* inputs, std::size_t width, std::int32_t* outputs,
                     std::size_t output_width) {
  v128_t low[Rows];
  v128_t high[Rows];
  for (int row = 0; row < Rows; ++row) low[row] = high[row] = wasm_i32x4_splat(0);
  for (std::size_t input = 0; input < width; input += input_group, weights += stride) {
    const v128_t bytes = wasm_v128_load(weights);
    const v128_t first = wasm_i16x8_extend_low_i8x16(bytes);
    const v128_t second = wasm_i16x8_extend_high_i8x16(bytes);
    for (int row = 0; row < Rows; ++row) {
      const v128_t values = wasm_v128_load64_splat(inputs + static_cast<std::size_t>(row) * width + input);
      low[row] = wasm_i32x4_add(low[row], wasm_i32x4_dot_i16x8(first, values));
      high[row] = wasm_i32x4_add(high[row], wasm_i32x4_dot_i16x8(second, values));
    }
  }
  for (int row = 0; row < Rows; ++row) {
    const v128_t even = wasm_i32x4_shuffle(low[row], high[row], 0, 2, 4, 6);
    const v128_t odd = wasm_i32x4_shuffle(low[row], high[row], 1, 3, 5, 7);
    wasm_v128_store(outputs + static_cast<std::size_t>(row) * output_width, wasm_i32x4_add(even, odd));
  }
}

void multiply_int8(const Int8Matrix& matrix, const std::uint8_t* inputs, std::size_t rows, std::int32_t* outputs) {
  const std::size_t width = matrix.inputs;
  const std::int16_t* wide = widened(inputs, rows * width).data();
  for (std::size_t output = 0; output < matrix.outputs; output += lanes) {
    const std::size_t group = output / output_group * output_group;
    const std::int8_t* weights = matrix.weights.data() + group * width + (output - group) / lanes * vector_bytes;
    std::size_t row = 0;
    for (; row + 4 <= rows; row += 4) {
      multiply_vector<4>(weights, wide + row * width, width, outputs + row * matrix.outputs + output, matrix.outputs);
    }
    for (; row < rows; ++row) {
      multiply_vector<1>(weights, wide + row * width, width, outputs + row * matrix.outputs + output, matrix.outputs);
    }
  }
}

}  // namespace

extern const Kernels simd128_kernels;
const Kernels simd128_kernels = make_kernels<Simd128>("simd128", multiply_int8);

}  // namespace halfword
