#include "lm/kernels/common.h"

namespace halfword {
namespace {

struct Portable : AnySet<Portable, 16> {};

void multiply_int8(const Int8Matrix& matrix, const std::uint8_t* inputs, std::size_t rows, std::int32_t* outputs) {
  for (std::size_t row = 0; row < rows; ++row) {
    const std::uint8_t* input = inputs + row * matrix.inputs;
    for (std::size_t group = 0; group < matrix.outputs; group += output_group) {
      const std::int8_t* weights = matrix.weights.data() + group * matrix.inputs;
      std::int32_t sums[output_group] = {};
      for (std::size_t i = 0; i < matrix.inputs; i += input_group, weights += output_group * input_group) {
        for (std::size_t lane = 0; lane < output_group; ++lane) {
          for (std::size_t j = 0; j < input_group; ++j)
            sums[lane] += (input[i + j] - 128) * weights[lane * input_group + j];
        }
      }
      for (std::size_t lane = 0; lane < output_group; ++lane) outputs[row * matrix.outputs + group + lane] = sums[lane];
    }
  }
}

}  // namespace

extern const Kernels portable_kernels;
const Kernels portable_kernels = make_kernels<Portable>("portable", multiply_int8);

}  // namespace halfword
