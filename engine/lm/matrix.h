#pragma once

#include <cstddef>
#include <cstdint>
#include <new>
#include <span>
#include <vector>

namespace halfword {

/// Allocates at cache-line boundaries, so that the widest vectors never straddle two lines.
template <typename T>
struct CacheLineAllocator {
  using value_type = T;
  static constexpr std::align_val_t alignment{64};

  CacheLineAllocator() = default;
  template <typename Other>
  CacheLineAllocator(const CacheLineAllocator<Other>&) {}

  T* allocate(std::size_t size) { return static_cast<T*>(::operator new(size * sizeof(T), alignment)); }
  void deallocate(T* address, std::size_t) { ::operator delete(address, alignment); }
  bool operator==(const CacheLineAllocator&) const { return true; }
};

template <typename T>
using AlignedVector = std::vector<T, CacheLineAllocator<T>>;

constexpr std::size_t round_up(std::size_t value, std::size_t multiple) {
  return (value + multiple - 1) / multiple * multiple;
}

/// Outputs are computed in groups of 16, the number of 32-bit lanes of the widest vector.
constexpr std::size_t output_group = 16;
/// Inputs are read four at a time: one 32-bit lane of 8-bit numbers.
constexpr std::size_t input_group = 4;

/// An 8-bit matrix, packed for the kernels: [output / 16][input / 4][16 outputs][4 inputs], padded with zeros.
struct Int8Matrix {
  std::size_t outputs;  // padded
  std::size_t inputs;   // padded
  AlignedVector<std::int8_t> weights;
  AlignedVector<std::int32_t> offsets;  // −128 × Σ weights of each output
  AlignedVector<float> scales;          // weight ≈ int8 × scale

  /// Pack a row-major matrix of (scales.size(), inputs).
  Int8Matrix(std::span<const std::int8_t> rows, std::span<const float> row_scales);
};

/// A 32-bit matrix, packed for the kernels: [output / 16][input][16 outputs], padded with zeros.
struct FloatMatrix {
  std::size_t outputs;  // padded
  std::size_t inputs;   // padded like an Int8Matrix, so that both read the same buffers
  AlignedVector<float> weights;

  /// Pack a row-major matrix of (outputs, inputs).
  FloatMatrix(std::span<const float> rows, std::size_t row_count);
};

}  // namespace halfword
