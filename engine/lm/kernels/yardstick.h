#pragma once

#include <cstddef>

#include "lm/kernels/kernels.h"

namespace halfword {

/// How fast this core multiplies, in thousand million multiply-adds a second: what other figures are compared with.
struct MultiplyRate {
  double int8;
  double float32;
};

/// The rate of both products of `kernels` for `rows` rows of a matrix as large as the paper's (1800 × 600); best of
/// many.
MultiplyRate measure_rate(const Kernels& kernels, std::size_t rows);

/// The rate of the instruction that multiplies 8-bit numbers, fed from registers alone; 0 where `kernels` have none.
double measure_int8_peak(const Kernels& kernels);

}  // namespace halfword
