#pragma once

// The kernels that all instruction sets share. The file of each includes this header and is compiled for its set.

#include <cstddef>
#include <cstdint>

#include "lm/bits.h"
#include "lm/kernels/kernels.h"
#include "lm/kernels/vectors.h"

namespace halfword {

/// `Rows` rows × `Groups` groups of outputs; the sums stay in registers during the loop over the inputs.
template <typename Set, template <typename> typename Product, std::size_t Rows, std::size_t Groups>
void multiply_float_groups(const FloatMatrix& matrix, std::size_t output, const float* inputs, float* outputs) {
  constexpr std::size_t parts = Sums<Set>::parts;
  const std::size_t width = matrix.inputs;
  const float* weights = matrix.weights.data() + output * width;
  Sums<Set> sums[Rows][Groups];
  for (std::size_t input = 0; input < width; ++input) {
#pragma GCC unroll 16
    for (std::size_t i = 0; i < Groups * parts; ++i) {
      const std::size_t group = i / parts;
      const std::size_t part = i % parts;
      typename Set::Floats column;
      __builtin_memcpy(&column, weights + (group * width + input) * output_group + part * Set::lanes, sizeof(column));
#pragma GCC unroll 16
      for (std::size_t row = 0; row < Rows; ++row) {
        typename Set::Floats& sum = sums[row][group].vectors[part];
        sum = Product<Set>::multiply_add(column, same<Set>(inputs[row * width + input]), sum);
      }
    }
  }
#pragma GCC unroll 16
  for (std::size_t row = 0; row < Rows; ++row) {
    __builtin_memcpy(outputs + row * matrix.outputs + output, sums[row], sizeof(sums[row]));
  }
}

template <typename Set, template <typename> typename Product, std::size_t Rows>
void multiply_float_block(const FloatMatrix& matrix, const float* inputs, float* outputs) {
  constexpr std::size_t groups = Sums<Set>::parts == 1 ? 2 : 1;
  std::size_t output = 0;
  for (; output + groups * output_group <= matrix.outputs; output += groups * output_group) {
    multiply_float_groups<Set, Product, Rows, groups>(matrix, output, inputs, outputs);
  }
  if (output < matrix.outputs) multiply_float_groups<Set, Product, Rows, 1>(matrix, output, inputs, outputs);
}

template <typename Set, template <typename> typename Product>
void multiply_float(const FloatMatrix& matrix, const float* inputs, std::size_t rows, float* outputs) {
  constexpr std::size_t block = Sums<Set>::parts <= 2 ? 6 : 2;
  std::size_t row = 0;
  for (; row + block <= rows; row += block) {
    multiply_float_block<Set, Product, block>(matrix, inputs + row * matrix.inputs, outputs + row * matrix.outputs);
  }
  for (; row + 2 <= rows; row += 2) {
    multiply_float_block<Set, Product, 2>(matrix, inputs + row * matrix.inputs, outputs + row * matrix.outputs);
  }
  if (row < rows) {
    multiply_float_block<Set, Product, 1>(matrix, inputs + row * matrix.inputs, outputs + row * matrix.outputs);
  }
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
[[gnu::noinline]] Norm norm_of(const float* values, std::size_t size) {
  Sums<Set> sums;
  Sums<Set> squares;
  for_each_part<Set>(size, [&](std::size_t place, std::size_t count, std::size_t part) {
    const typename Set::Floats vector = read<Set>(values + place, count);
    sums.vectors[part] += vector;
    squares.vectors[part] += vector * vector;
  });
  const float mean = sums.total() / static_cast<float>(size);
  const float variance = squares.total() / static_cast<float>(size) - mean * mean;
  const float factor = 1.0F / __builtin_sqrtf((variance > 0.0F ? variance : 0.0F) + 1e-5F);
  return {mean, factor};
}

/// `count` gates from `place` on, normalised, scaled and shifted, as powers of two.
template <typename Set>
inline typename Set::Floats gate_power(const float* gates, const GateNorms& norms, const Norm& norm, std::size_t place,
                                       std::size_t count) {
  constexpr float steep = 43.0F;  // beyond it sigmoid and tanh are flat; below it products of two powers are finite
  const typename Set::Floats normed = (read<Set>(gates + place, count) - norm.mean) * norm.factor;
  const typename Set::Floats scaled =
      normed * read<Set>(norms.scale + place, count) + read<Set>(norms.bias + place, count);
  return power_of_two<Set, Apart>(within<Set>(steep, scaled));
}

/// With a = e^−(f+1) and b = e^2g, the new cell σ(f+1)·c + (1−σ(f+1))·tanh g is (c·(b+1) + a·(b−1)) / ((1+a)·(b+1)):
/// one division instead of two. The hidden value σ(o)·tanh c is (d−1) / ((1+e^−o)·(d+1)) with d = e^2c.
template <typename Set>
void lstm_cell(const float* gates, GateNorms norms, std::size_t hidden, const float* cell, float* new_cell,
               float* new_hidden) {
  using Floats = typename Set::Floats;
  constexpr float twice = 2.88539008F;  // e^2x = 2^(twice × x)
  constexpr float flat = 15.0F;         // beyond it tanh is flat
  const Norm forget = norm_of<Set>(gates, hidden);
  const Norm output = norm_of<Set>(gates + hidden, hidden);
  const Norm candidate = norm_of<Set>(gates + 2 * hidden, hidden);
  for_each_vector<Set>(hidden, [&](std::size_t place, std::size_t count) {
    const Floats a = gate_power<Set>(gates, norms, forget, place, count);
    const Floats b = gate_power<Set>(gates, norms, candidate, 2 * hidden + place, count);
    const Floats above = read<Set>(cell + place, count) * (b + 1.0F) + a * (b - 1.0F);
    const Floats next = above / ((a + 1.0F) * (b + 1.0F));
    const Floats d = power_of_two<Set, Apart>(within<Set>(flat, next) * twice);
    const Floats e = gate_power<Set>(gates, norms, output, hidden + place, count);
    write<Set>(next, count, new_cell + place);
    write<Set>((d - 1.0F) / ((e + 1.0F) * (d + 1.0F)), count, new_hidden + place);
  });
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

/// The largest value.
template <typename Set>
inline float peak_of(const float* values, std::size_t size) {
  float peak = values[0];
  for (std::size_t i = 0; i < size; ++i) peak = values[i] > peak ? values[i] : peak;
  return peak;
}

/// e^(value − peak) of the first `count` values, none of which is above the peak; zeros in the other lanes.
template <typename Set>
inline typename Set::Floats below_peak(const float* values, std::size_t count, float peak) {
  constexpr float least = -126.0F;
  constexpr float binary = 1.44269504F;  // e^x = 2^(binary × x)
  const typename Set::Floats exponents = (read<Set>(values, count) - peak) * binary;
  typename Set::Floats powers = power_of_two<Set, Fused>(Set::larger(same<Set>(least), exponents));
  for (std::size_t i = count; i < Set::lanes; ++i) powers[i] = 0.0F;
  return powers;
}

template <typename Set>
float log_sum_exp(const float* values, std::size_t size) {
  const float peak = peak_of<Set>(values, size);
  Sums<Set> sums;
  for_each_part<Set>(size, [&](std::size_t place, std::size_t count, std::size_t part) {
    sums.vectors[part] += below_peak<Set>(values + place, count, peak);
  });
  return peak + logarithm<Set, Fused>(same<Set>(sums.total()))[0];
}

template <typename Set>
inline typename Set::Floats safe_logarithm(typename Set::Floats probabilities) {
  constexpr float least = 1e-30F;
  return logarithm<Set, Fused>(Set::larger(same<Set>(least), probabilities));
}

template <typename Set>
void mix(float weight, const float* __restrict probabilities, std::size_t size, float* __restrict logits) {
  const float peak = peak_of<Set>(logits, size);
  Sums<Set> sums;
  for_each_part<Set>(size, [&](std::size_t place, std::size_t count, std::size_t part) {
    const typename Set::Floats powers = below_peak<Set>(logits + place, count, peak);
    sums.vectors[part] += powers;
    write<Set>(powers, count, logits + place);
  });
  const float share = weight / sums.total();
  const float other = 1.0F - weight;
  for_each_vector<Set>(size, [&](std::size_t place, std::size_t count) {
    const typename Set::Floats rest = other * read<Set>(probabilities + place, count);
    const typename Set::Floats mixed =
        Fused<Set>::multiply_add(same<Set>(share), read<Set>(logits + place, count), rest);
    write<Set>(safe_logarithm<Set>(mixed), count, logits + place);
  });
}

template <typename Set>
void logarithms(const float* __restrict probabilities, std::size_t size, float* __restrict logits) {
  for_each_vector<Set>(size, [&](std::size_t place, std::size_t count) {
    write<Set>(safe_logarithm<Set>(read<Set>(probabilities + place, count)), count, logits + place);
  });
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
          .multiply_float = multiply_float<Set, Fused>,
          .multiply_alike = multiply_float<Set, Apart>,
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
