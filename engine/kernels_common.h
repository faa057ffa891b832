#pragma once

// The part of the kernels that a compiler vectorises by itself. Each instruction set's file includes this and is
// compiled for its set; `Set` is a type of that file alone, so that the linker keeps the variants apart.

#include <bit>
#include <cstddef>
#include <cstdint>

#include "kernels.h"

namespace halfword {

/// e^x to a relative error of 2e-7, for loops that the compiler turns into vectors.
template <typename Set>
inline float exponential(float x) {
  x = x < -87.0F ? -87.0F : x;
  x = x > 88.0F ? 88.0F : x;
  const float scaled = x * 1.44269504F;
  const int whole = static_cast<int>(scaled + (scaled < 0.0F ? -0.5F : 0.5F));
  const float part = static_cast<float>(whole);
  const float rest = (x - part * 0.693359375F) + part * 2.12194440e-4F;
  float series = 1.9875691500e-4F;
  series = series * rest + 1.3981999507e-3F;
  series = series * rest + 8.3334519073e-3F;
  series = series * rest + 4.1665795894e-2F;
  series = series * rest + 1.6666665459e-1F;
  series = series * rest + 5.0000001201e-1F;
  series = series * rest * rest + rest + 1.0F;
  return series * std::bit_cast<float>((whole + 127) << 23);
}

template <typename Set>
inline float sigmoid(float x) {
  return 1.0F / (1.0F + exponential<Set>(-x));
}

template <typename Set>
inline float hyperbolic_tangent(float x) {
  return 1.0F - 2.0F / (exponential<Set>(2.0F * x) + 1.0F);
}

template <typename Set>
void multiply_float(const FloatMatrix& matrix, const float* inputs, std::size_t rows, float* outputs) {
  constexpr std::size_t row_block = 4;
  for (std::size_t first = 0; first < rows; first += row_block) {
    const std::size_t count = rows - first < row_block ? rows - first : row_block;
    for (std::size_t group = 0; group < matrix.outputs; group += output_group) {
      const float* weights = matrix.weights.data() + group * matrix.inputs;
      float sums[row_block][output_group] = {};
      for (std::size_t input = 0; input < matrix.inputs; ++input) {
        for (std::size_t row = 0; row < row_block; ++row) {
          // Rows beyond the last repeat it: their sums are not kept.
          const float value = inputs[(first + (row < count ? row : count - 1)) * matrix.inputs + input];
          for (std::size_t lane = 0; lane < output_group; ++lane) {
            sums[row][lane] += value * weights[input * output_group + lane];
          }
        }
      }
      for (std::size_t row = 0; row < count; ++row) {
        for (std::size_t lane = 0; lane < output_group; ++lane) {
          outputs[(first + row) * matrix.outputs + group + lane] = sums[row][lane];
        }
      }
    }
  }
}

template <typename Set>
void dequantise(const std::int32_t* sums, const float* scales, float scale, const float* addend, std::size_t size,
                float* values) {
  for (std::size_t i = 0; i < size; ++i) values[i] = addend[i] + static_cast<float>(sums[i]) * (scales[i] * scale);
}

template <typename Set>
void add(const float* addend, std::size_t size, float* values) {
  for (std::size_t i = 0; i < size; ++i) values[i] += addend[i];
}

/// What takes `values` to mean 0 and variance 1: (value − mean) × factor.
struct Norm {
  float mean;
  float factor;
};

template <typename Set>
inline Norm norm_of(const float* values, std::size_t size) {
  float sum = 0.0F;
  for (std::size_t i = 0; i < size; ++i) sum += values[i];
  const float mean = sum / static_cast<float>(size);
  float squares = 0.0F;
  for (std::size_t i = 0; i < size; ++i) squares += (values[i] - mean) * (values[i] - mean);
  return {mean, 1.0F / __builtin_sqrtf(squares / static_cast<float>(size) + 1e-5F)};
}

template <typename Set>
void lstm_cell(const float* gates, GateNorms norms, std::size_t hidden, const float* cell, float* new_cell,
               float* new_hidden) {
  const float* forget = gates;
  const float* output = gates + hidden;
  const float* candidate = gates + 2 * hidden;
  const Norm forget_norm = norm_of<Set>(forget, hidden);
  const Norm output_norm = norm_of<Set>(output, hidden);
  const Norm candidate_norm = norm_of<Set>(candidate, hidden);
  for (std::size_t i = 0; i < hidden; ++i) {
    const std::size_t j = hidden + i;
    const std::size_t k = 2 * hidden + i;
    const float f = (forget[i] - forget_norm.mean) * forget_norm.factor * norms.scale[i] + norms.bias[i];
    const float o = (output[i] - output_norm.mean) * output_norm.factor * norms.scale[j] + norms.bias[j];
    const float g = (candidate[i] - candidate_norm.mean) * candidate_norm.factor * norms.scale[k] + norms.bias[k];
    const float keep = sigmoid<Set>(f + 1.0F);
    const float next = keep * cell[i] + (1.0F - keep) * hyperbolic_tangent<Set>(g);
    new_cell[i] = next;
    new_hidden[i] = sigmoid<Set>(o) * hyperbolic_tangent<Set>(next);
  }
}

template <typename Set>
void quantise(const float* values, std::size_t size, float step, std::uint8_t* quantised) {
  const float factor = 1.0F / step;
  for (std::size_t i = 0; i < size; ++i) {
    quantised[i] = static_cast<std::uint8_t>(static_cast<int>(values[i] * factor + 128.5F));
  }
}

template <typename Set>
float largest(const float* values, std::size_t size) {
  float best = 0.0F;
  for (std::size_t i = 0; i < size; ++i) {
    const float magnitude = values[i] < 0.0F ? -values[i] : values[i];
    best = magnitude > best ? magnitude : best;
  }
  return best;
}

template <typename Set>
float log_sum_exp(const float* values, std::size_t size) {
  float peak = values[0];
  for (std::size_t i = 0; i < size; ++i) peak = values[i] > peak ? values[i] : peak;
  float sum = 0.0F;
  for (std::size_t i = 0; i < size; ++i) sum += exponential<Set>(values[i] - peak);
  return peak + __builtin_logf(sum);
}

template <typename Set>
std::size_t find_above(const float* values, std::size_t size, float threshold, std::uint32_t* places) {
  constexpr std::size_t stride = 32;
  std::size_t found = 0;
  for (std::size_t first = 0; first < size; first += stride) {
    const std::size_t count = size - first < stride ? size - first : stride;
    int any = 0;
    for (std::size_t i = 0; i < count; ++i) any |= static_cast<int>(values[first + i] > threshold);
    if (any == 0) continue;
    for (std::size_t i = 0; i < count; ++i) {
      if (values[first + i] > threshold) places[found++] = static_cast<std::uint32_t>(first + i);
    }
  }
  return found;
}

/// All kernels of one instruction set: its own integer product, and the rest as the compiler makes it.
template <typename Set>
constexpr Kernels make_kernels(const char* name, decltype(Kernels::multiply_int8) multiply_int8) {
  return {.name = name,
          .multiply_int8 = multiply_int8,
          .multiply_float = multiply_float<Set>,
          .dequantise = dequantise<Set>,
          .add = add<Set>,
          .lstm_cell = lstm_cell<Set>,
          .quantise = quantise<Set>,
          .largest = largest<Set>,
          .log_sum_exp = log_sum_exp<Set>,
          .find_above = find_above<Set>};
}

}  // namespace halfword
