#pragma once

// The kernels that the compiler vectorises by itself. The file of each instruction set includes this header and is
// compiled for its set. `Set` is a type that only this file has, so that the linker does not merge the variants.

#include <cstddef>
#include <cstdint>

#include "lm/bits.h"
#include "lm/kernels/kernels.h"

namespace halfword {

/// e^x with a relative error of about 1e-6; x is clamped to [−limit, limit]. Written so that loops over it vectorise.
template <typename Set>
inline float exponential(float x, float limit = 87.0F) {
  x = x < -limit ? -limit : x;
  x = x > limit ? limit : x;
  const float scaled = x * 1.44269504F;
  const int exponent = static_cast<int>(scaled + 127.5F);  // biased by 127, as in a float
  const float rest = scaled - (static_cast<float>(exponent) - 127.0F);
  float series = 1.3266970636e-3F;  // polynomial for 2^rest, rest between −½ and ½
  series = series * rest + 9.6754599363e-3F;
  series = series * rest + 5.5507425219e-2F;
  series = series * rest + 2.4022121727e-1F;
  series = series * rest + 6.9314694405e-1F;
  series = series * rest + 1.0000001192F;
  return series * bit_cast<float>(exponent << 23);
}

/// log x for a positive x, with an error of 2e-7. Written so that loops over it vectorise.
template <typename Set>
inline float logarithm(float x) {
  const std::uint32_t bits = bit_cast<std::uint32_t>(x);
  // Split x into 2^power × part with part between √½ and √2.
  const std::uint32_t shifted = bits - 0x3F3504F3U;
  const auto power = static_cast<float>(static_cast<std::int32_t>(shifted) >> 23);
  const float rest = bit_cast<float>((shifted & 0x007FFFFFU) + 0x3F3504F3U) - 1.0F;
  float series = 7.0376836292e-2F;
  series = series * rest - 1.1514610310e-1F;
  series = series * rest + 1.1676998740e-1F;
  series = series * rest - 1.2420140846e-1F;
  series = series * rest + 1.4249322787e-1F;
  series = series * rest - 1.6668057665e-1F;
  series = series * rest + 2.0000714765e-1F;
  series = series * rest - 2.4999993993e-1F;
  series = series * rest + 3.3333331174e-1F;
  const float square = rest * rest;
  return rest + (series * rest * square - 0.5F * square) + power * 0.69314718F;
}

/// One group of outputs; the compiler maps it to the registers of the instruction set.
using Lanes [[gnu::vector_size(output_group * sizeof(float))]] = float;

/// `Rows` rows × `Groups` groups of outputs; the sums stay in registers during the loop over the inputs.
template <typename Set, std::size_t Rows, std::size_t Groups>
void multiply_float_groups(const FloatMatrix& matrix, std::size_t output, const float* inputs, float* outputs) {
  const std::size_t width = matrix.inputs;
  const float* weights = matrix.weights.data() + output * width;
  Lanes sums[Rows][Groups] = {};
  for (std::size_t input = 0; input < width; ++input) {
#pragma GCC unroll 8
    for (std::size_t group = 0; group < Groups; ++group) {
      Lanes column;
      __builtin_memcpy(&column, weights + (group * width + input) * output_group, sizeof(Lanes));
#pragma GCC unroll 8
      for (std::size_t row = 0; row < Rows; ++row) sums[row][group] += column * inputs[row * width + input];
    }
  }
#pragma GCC unroll 8
  for (std::size_t row = 0; row < Rows; ++row) {
    __builtin_memcpy(outputs + row * matrix.outputs + output, sums[row], Groups * sizeof(Lanes));
  }
}

template <typename Set, std::size_t Rows>
void multiply_float_block(const FloatMatrix& matrix, const float* inputs, float* outputs) {
  std::size_t output = 0;
  for (; output + 2 * output_group <= matrix.outputs; output += 2 * output_group) {
    multiply_float_groups<Set, Rows, 2>(matrix, output, inputs, outputs);
  }
  if (output < matrix.outputs) multiply_float_groups<Set, Rows, 1>(matrix, output, inputs, outputs);
}

template <typename Set>
void multiply_float(const FloatMatrix& matrix, const float* inputs, std::size_t rows, float* outputs) {
  constexpr std::size_t block = 6;
  std::size_t row = 0;
  for (; row + block <= rows; row += block) {
    multiply_float_block<Set, block>(matrix, inputs + row * matrix.inputs, outputs + row * matrix.outputs);
  }
  for (; row + 2 <= rows; row += 2) {
    multiply_float_block<Set, 2>(matrix, inputs + row * matrix.inputs, outputs + row * matrix.outputs);
  }
  if (row < rows) multiply_float_block<Set, 1>(matrix, inputs + row * matrix.inputs, outputs + row * matrix.outputs);
}

template <typename Set>
void dequantise(const std::int32_t* sums, const float* scales, float scale, const float* addend, std::size_t size,
                float* __restrict values) {
  for (std::size_t i = 0; i < size; ++i) values[i] = addend[i] + static_cast<float>(sums[i]) * (scales[i] * scale);
}

template <typename Set>
void dequantise_half(const std::int32_t* sums, const float* scales, float scale, const std::uint16_t* addend,
                     std::size_t size, float* __restrict values) {
  for (std::size_t i = 0; i < size; ++i) {
    const float added = bit_cast<float>(static_cast<std::uint32_t>(addend[i]) << 16);
    values[i] = added + static_cast<float>(sums[i]) * (scales[i] * scale);
  }
}

template <typename Set>
void add(const float* addend, std::size_t size, float* values) {
  for (std::size_t i = 0; i < size; ++i) values[i] += addend[i];
}

/// Layer norm: (value − mean) × factor has mean 0 and variance 1.
struct Norm {
  float mean;
  float factor;
};

template <typename Set>
inline Norm norm_of(const float* values, std::size_t size) {
  float sum = 0.0F;
  float squares = 0.0F;
  for (std::size_t i = 0; i < size; ++i) {
    sum += values[i];
    squares += values[i] * values[i];
  }
  const float mean = sum / static_cast<float>(size);
  const float variance = squares / static_cast<float>(size) - mean * mean;
  const float factor = 1.0F / __builtin_sqrtf((variance > 0.0F ? variance : 0.0F) + 1e-5F);
  return {mean, factor};
}

/// With a = e^−(f+1) and b = e^2g, the new cell σ(f+1)·c + (1−σ(f+1))·tanh g is (c·(b+1) + a·(b−1)) / ((1+a)·(b+1)):
/// one division instead of two. The hidden value σ(o)·tanh c is (d−1) / ((1+e^−o)·(d+1)) with d = e^2c.
template <typename Set>
void lstm_cell(const float* __restrict gates, GateNorms norms, std::size_t hidden, const float* __restrict cell,
               float* __restrict new_cell, float* __restrict new_hidden) {
  constexpr float steep = 30.0F;  // beyond it sigmoid and tanh are flat; below it products of exponentials are finite
  const float* __restrict scale = norms.scale;
  const float* __restrict bias = norms.bias;
  const Norm forget = norm_of<Set>(gates, hidden);
  const Norm output = norm_of<Set>(gates + hidden, hidden);
  const Norm candidate = norm_of<Set>(gates + 2 * hidden, hidden);
  for (std::size_t i = 0; i < hidden; ++i) {
    const std::size_t j = hidden + i;
    const std::size_t k = 2 * hidden + i;
    const float f = (gates[i] - forget.mean) * forget.factor * scale[i] + bias[i];
    const float o = (gates[j] - output.mean) * output.factor * scale[j] + bias[j];
    const float g = (gates[k] - candidate.mean) * candidate.factor * scale[k] + bias[k];
    const float a = exponential<Set>(-f - 1.0F, steep);
    const float b = exponential<Set>(2.0F * g, steep);
    const float next = (cell[i] * (b + 1.0F) + a * (b - 1.0F)) / ((1.0F + a) * (b + 1.0F));
    const float d = exponential<Set>(2.0F * next, steep);
    new_cell[i] = next;
    new_hidden[i] = (d - 1.0F) / ((1.0F + exponential<Set>(-o, steep)) * (d + 1.0F));
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
void mix(float weight, const float* __restrict probabilities, std::size_t size, float* __restrict logits) {
  float peak = logits[0];
  for (std::size_t i = 0; i < size; ++i) peak = logits[i] > peak ? logits[i] : peak;
  float sum = 0.0F;
  for (std::size_t i = 0; i < size; ++i) {
    logits[i] = exponential<Set>(logits[i] - peak);
    sum += logits[i];
  }
  const float share = weight / sum;
  const float other = 1.0F - weight;
  for (std::size_t i = 0; i < size; ++i) {
    const float mixed = share * logits[i] + other * probabilities[i];
    logits[i] = logarithm<Set>(mixed > 1e-30F ? mixed : 1e-30F);
  }
}

template <typename Set>
void logarithms(const float* __restrict probabilities, std::size_t size, float* __restrict logits) {
  for (std::size_t i = 0; i < size; ++i) {
    logits[i] = logarithm<Set>(probabilities[i] > 1e-30F ? probabilities[i] : 1e-30F);
  }
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

/// An integer product, built from a function for four rows of one group of outputs and a function for one row.
template <auto FourRows, auto OneRow>
void multiply_in_groups(const Int8Matrix& matrix, const std::uint8_t* inputs, std::size_t rows, std::int32_t* outputs) {
  constexpr std::size_t block = 4;
  for (std::size_t output = 0; output < matrix.outputs; output += output_group) {
    std::size_t row = 0;
    for (; row + block <= rows; row += block) {
      FourRows(matrix, output, inputs + row * matrix.inputs, outputs + row * matrix.outputs);
    }
    for (; row < rows; ++row) OneRow(matrix, output, inputs + row * matrix.inputs, outputs + row * matrix.outputs);
  }
}

/// All kernels of one instruction set: its own integer product, and the others as the compiler vectorises them.
template <typename Set>
constexpr Kernels make_kernels(const char* name, decltype(Kernels::multiply_int8) multiply_int8,
                               decltype(Kernels::int8_products) int8_products = nullptr) {
  return {.name = name,
          .multiply_int8 = multiply_int8,
          .multiply_float = multiply_float<Set>,
          .dequantise = dequantise<Set>,
          .dequantise_half = dequantise_half<Set>,
          .add = add<Set>,
          .lstm_cell = lstm_cell<Set>,
          .quantise = quantise<Set>,
          .largest = largest<Set>,
          .log_sum_exp = log_sum_exp<Set>,
          .mix = mix<Set>,
          .logarithms = logarithms<Set>,
          .find_above = find_above<Set>,
          .int8_products = int8_products};
}

}  // namespace halfword
