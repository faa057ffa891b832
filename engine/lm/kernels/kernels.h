#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "lm/matrix.h"

namespace halfword {

/// The layer norms of one LSTM layer: `hidden` scales and biases for each of the three gates, the forget gate, the
/// output gate and the candidate. They are stored so that powers of two are taken of what they give, not powers of e:
/// 2^gate is e^−(f+1), e^−o and e^2g.
struct GateNorms {
  const float* scale;
  const float* bias;
};

/// The arithmetic of the network, implemented once per instruction set. All sets compute the same bits of what is
/// rounded to bytes later: integers, `multiply_alike`, `dequantise`, `lstm_cell` and `quantise`. Other floats differ in
/// the last digits. Buffers are padded like the matrices. Quantised inputs are stored as value + 128,
/// because the fastest instructions multiply unsigned bytes by signed bytes.
struct Kernels {
  const char* name;

  /// outputs[row][output] = Σ (inputs[row][input] − 128) × weight: exact.
  void (*multiply_int8)(const Int8Matrix& matrix, const std::uint8_t* inputs, std::size_t rows, std::int32_t* outputs);

  /// The same in 32-bit floats.
  void (*multiply_float)(const FloatMatrix& matrix, const float* inputs, std::size_t rows, float* outputs);

  /// The same in 32-bit floats, slower, with the same bits from every instruction set.
  void (*multiply_alike)(const FloatMatrix& matrix, const float* inputs, std::size_t rows, float* outputs);

  /// values[i] = addend[i] + sums[i] × scales[i] × scale.
  void (*dequantise)(const std::int32_t* sums, const float* scales, float scale, const float* addend, std::size_t size,
                     float* values);

  /// The same with an addend in bfloat16 (the upper 16 bits of a float).
  void (*dequantise_half)(const std::int32_t* sums, const float* scales, float scale, const std::uint16_t* addend,
                          std::size_t size, float* values);

  /// values[i] += addend[i].
  void (*add)(const float* addend, std::size_t size, float* values);

  /// One LSTM cell from the pre-activations of its forget gate, output gate and candidate.
  void (*lstm_cell)(const float* gates, GateNorms norms, std::size_t hidden, const float* cell, float* new_cell,
                    float* new_hidden);

  /// quantised[i] = 128 + round(values[i] / step).
  void (*quantise)(const float* values, std::size_t size, float step, std::uint8_t* quantised);

  /// The largest absolute value.
  float (*largest)(const float* values, std::size_t size);

  /// log Σ exp(values[i]).
  float (*log_sum_exp)(const float* values, std::size_t size);

  /// logits[i] = log(weight × softmax(logits)[i] + (1 − weight) × probabilities[i]).
  void (*mix)(float weight, const float* probabilities, std::size_t size, float* logits);

  /// logits[i] = log probabilities[i].
  void (*logarithms)(const float* probabilities, std::size_t size, float* logits);

  /// Write the indices of all values above `threshold`, in order; returns how many there are.
  std::size_t (*find_above)(const float* values, std::size_t size, float threshold, std::uint32_t* places);

  /// Multiply 8-bit numbers in registers as fast as possible and return how many: measures the limit of the machine.
  /// May be null.
  std::size_t (*int8_products)() = nullptr;
};

/// The kernels that this machine can run, the fastest first; the portable ones are always among them.
const std::vector<const Kernels*>& available_kernels();

/// The kernels called `name`; an empty name selects the fastest. Throws std::invalid_argument for an unknown name.
const Kernels& kernels_named(const std::string& name);

}  // namespace halfword
