#pragma once

#include <cstddef>

#include "lm/kernels/kernels.h"

namespace halfword {

/// How fast this core multiplies, in billions of multiply-adds per second; other figures are compared with it.
struct MultiplyRate {
  double int8;
  double float32;
};

/// The rate of both products of `kernels` for `rows` rows and a matrix of the paper's size (1800 × 600); the best of
/// many attempts.
MultiplyRate measure_rate(const Kernels& kernels, std::size_t rows);

/// The rate of the instruction that multiplies 8-bit numbers, from registers only; 0 if `kernels` have none.
double measure_int8_peak(const Kernels& kernels);

}  // namespace halfword
