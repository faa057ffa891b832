#include "lm/matrix.h"

namespace halfword {

Int8Matrix::Int8Matrix(std::span<const std::int8_t> rows, std::span<const float> row_scales)
    : outputs(round_up(row_scales.size(), output_group)),
      inputs(round_up(rows.size() / row_scales.size(), input_group)),
      weights(outputs * inputs),
      offsets(outputs),
      scales(row_scales.begin(), row_scales.end()) {
  const std::size_t width = rows.size() / row_scales.size();
  scales.resize(outputs);
  for (std::size_t output = 0; output < row_scales.size(); ++output) {
    std::int8_t* group = weights.data() + output / output_group * output_group * inputs;
    for (std::size_t input = 0; input < width; ++input) {
      const std::int8_t weight = rows[output * width + input];
      const std::size_t lane = output % output_group * input_group + input % input_group;
      group[input / input_group * output_group * input_group + lane] = weight;
      offsets[output] -= 128 * weight;
    }
  }
}

FloatMatrix::FloatMatrix(std::span<const float> rows, std::size_t row_count)
    : outputs(round_up(row_count, output_group)),
      inputs(round_up(rows.size() / row_count, input_group)),
      weights(outputs * inputs) {
  const std::size_t width = rows.size() / row_count;
  for (std::size_t output = 0; output < row_count; ++output) {
    float* group = weights.data() + output / output_group * output_group * inputs;
    for (std::size_t input = 0; input < width; ++input) {
      group[input * output_group + output % output_group] = rows[output * width + input];
    }
  }
}

}  // namespace halfword
