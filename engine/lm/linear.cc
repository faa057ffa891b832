#include "lm/linear.h"

#include <algorithm>
#include <cmath>

namespace halfword {

void check_finite(std::span<const float> values, const std::string& name) {
  const auto finite = [](float value) { return std::isfinite(value); };
  if (std::all_of(values.begin(), values.end(), finite)) return;
  throw ModelFileError(name + " holds something that is no number");
}

namespace {

void check_size(std::size_t found, std::size_t expected, const std::string& name) {
  if (found == expected) return;
  throw ModelFileError("the array " + name + " holds " + std::to_string(found) + " numbers, expected " +
                       std::to_string(expected));
}

std::span<const float> read_finite(const ModelFile& file, const std::string& name, std::size_t size) {
  const std::span<const float> values = file.array<float>(name);
  check_size(values.size(), size, name);
  check_finite(values, "the array " + name);
  return values;
}

/// 8-bit rows with one quantisation scale per row.
struct Quantised {
  std::vector<std::int8_t> values;
  std::vector<float> scales;
};

Quantised quantise_rows(std::span<const float> values, std::size_t rows) {
  const std::size_t width = values.size() / rows;
  Quantised quantised{std::vector<std::int8_t>(values.size()), std::vector<float>(rows)};
  for (std::size_t row = 0; row < rows; ++row) {
    const std::span<const float> weights = values.subspan(row * width, width);
    float largest = 0.0F;
    for (const float weight : weights) largest = std::max(largest, std::abs(weight));
    const float scale = largest > 0.0F ? largest / 127.0F : 1.0F;
    quantised.scales[row] = scale;
    for (std::size_t i = 0; i < width; ++i) {
      quantised.values[row * width + i] = static_cast<std::int8_t>(std::lround(weights[i] / scale));
    }
  }
  return quantised;
}

/// The int8 form of a matrix in the file, or else its fp32 form, quantised here.
Int8Matrix read_int8(const ModelFile& file, const std::string& name, std::size_t outputs, std::size_t inputs) {
  if (!file.holds(name + ".int8")) {
    const Quantised quantised = quantise_rows(read_matrix(file, name, outputs, inputs), outputs);
    return {quantised.values, quantised.scales};
  }
  const std::span<const std::int8_t> values = file.array<std::int8_t>(name + ".int8");
  check_size(values.size(), outputs * inputs, name + ".int8");
  const std::span<const float> scales = read_finite(file, name + ".scale", outputs);
  return {values, scales};
}

}  // namespace

std::optional<QuantisedRows> read_quantised(const ModelFile& file, const std::string& name, std::size_t outputs,
                                            std::size_t inputs) {
  if (file.holds(name) || !file.holds(name + ".int8")) return std::nullopt;
  const std::span<const std::int8_t> values = file.array<std::int8_t>(name + ".int8");
  check_size(values.size(), outputs * inputs, name + ".int8");
  return QuantisedRows{values, read_finite(file, name + ".scale", outputs)};
}

std::vector<float> read_rows(const ModelFile& file, const std::string& name, std::size_t outputs, std::size_t inputs,
                             std::size_t first, std::size_t count) {
  if (file.holds(name)) {
    const std::span<const float> values = file.array<float>(name);
    check_size(values.size(), outputs * inputs, name);
    const std::span<const float> rows = values.subspan(first * inputs, count * inputs);
    check_finite(rows, "the array " + name);
    return {rows.begin(), rows.end()};
  }
  const std::span<const std::int8_t> values = file.array<std::int8_t>(name + ".int8");
  check_size(values.size(), outputs * inputs, name + ".int8");
  const std::span<const float> scales = read_finite(file, name + ".scale", outputs);
  std::vector<float> floats(count * inputs);
  for (std::size_t i = 0; i < floats.size(); ++i) {
    floats[i] = static_cast<float>(values[first * inputs + i]) * scales[first + i / inputs];
  }
  return floats;
}

std::vector<float> read_matrix(const ModelFile& file, const std::string& name, std::size_t outputs,
                               std::size_t inputs) {
  return read_rows(file, name, outputs, inputs, 0, outputs);
}

AlignedVector<float> read_vector(const ModelFile& file, const std::string& name, std::size_t size) {
  const std::span<const float> values = read_finite(file, name, size);
  AlignedVector<float> vector(values.begin(), values.end());
  vector.resize(round_up(size, output_group));
  return vector;
}

Linear::Linear(const ModelFile& file, const std::string& name, std::size_t outputs, std::size_t inputs,
               Precision precision) {
  if (precision == Precision::int8) {
    int8_.emplace(read_int8(file, name, outputs, inputs));
  } else {
    float32_.emplace(read_matrix(file, name, outputs, inputs), outputs);
  }
}

Linear::Linear(std::span<const float> values, std::size_t outputs, Precision precision) {
  check_finite(values, "a product of matrices");
  if (precision == Precision::int8) {
    const Quantised quantised = quantise_rows(values, outputs);
    int8_.emplace(quantised.values, quantised.scales);
  } else {
    float32_.emplace(values, outputs);
  }
}

}  // namespace halfword
