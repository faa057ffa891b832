#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <type_traits>
#include <vector>

#include "lm/kernels/kernels.h"
#include "lm/matrix.h"
#include "store/model_file.h"

namespace halfword {

/// How the network multiplies: in 8 bits, or in 32-bit floats.
enum class Precision { int8, float32 };

/// Rows of numbers to multiply with: floats, or for the 8-bit precision bytes raised by 128 and a step for each row.
struct InputRows {
  AlignedVector<float> floats;
  AlignedVector<std::uint8_t> bytes;
  std::vector<float> steps;
};

/// Rows of products of a matrix with inputs: floats, or for the 8-bit precision sums in the steps of the inputs.
struct ProductRows {
  AlignedVector<float> floats;
  AlignedVector<std::int32_t> sums;
  std::vector<float> steps;
};

/// Make room for `size` values; buffers only ever grow, so that a thread's own stop being allocated.
template <typename Buffer>
void grow(Buffer& buffer, std::size_t size) {
  if (buffer.size() < size) buffer.resize(size);
}

/// Ask for an array that is needed soon and lies far away.
template <typename T>
void prefetch(const T* data, std::size_t size) {
  const auto* bytes = reinterpret_cast<const char*>(data);
  for (std::size_t place = 0; place < size * sizeof(T); place += 64) __builtin_prefetch(bytes + place, 0, 2);
}

/// Rows of a matrix as floats, from its 32-bit or else its 8-bit form in the file; throws unless it is (outputs,
/// inputs).
std::vector<float> read_rows(const ModelFile& file, const std::string& name, std::size_t outputs, std::size_t inputs,
                             std::size_t first, std::size_t count);

/// All of them.
std::vector<float> read_matrix(const ModelFile& file, const std::string& name, std::size_t outputs, std::size_t inputs);

/// Throws unless all of the values are numbers, for else every score would be nonsense.
void check_finite(std::span<const float> values, const std::string& name);

/// A vector of floats, padded with zeros as outputs are; throws unless it holds `size`.
AlignedVector<float> read_vector(const ModelFile& file, const std::string& name, std::size_t size);

/// A matrix of the network in the precision in use.
class Linear {
 public:
  Linear(const ModelFile& file, const std::string& name, std::size_t outputs, std::size_t inputs, Precision precision);

  /// A matrix that is not in the file, (outputs, inputs); throws unless all of it is numbers.
  Linear(std::span<const float> values, std::size_t outputs, Precision precision);

  std::size_t outputs() const { return int8_ ? int8_->outputs : float32_->outputs; }  // padded
  std::size_t inputs() const { return int8_ ? int8_->inputs : float32_->inputs; }     // padded

  /// products[row] = matrix × inputs[row].
  void multiply(const Kernels& kernels, const InputRows& inputs, std::size_t rows, ProductRows& products) const {
    const std::size_t size = rows * outputs();
    if (int8_) {
      grow(products.sums, size);
      grow(products.steps, rows);
      std::copy_n(inputs.steps.data(), rows, products.steps.data());
      kernels.multiply_int8(*int8_, inputs.bytes.data(), rows, products.sums.data());
    } else {
      grow(products.floats, size);
      kernels.multiply_float(*float32_, inputs.floats.data(), rows, products.floats.data());
    }
  }

  /// results = addend + products[row]; in 8 bits the addend may be in bfloat16.
  template <typename Addend>
  void add(const Kernels& kernels, const ProductRows& products, std::size_t row, const Addend* addend,
           float* results) const {
    const std::size_t width = outputs();
    if constexpr (std::is_same_v<Addend, float>) {
      if (float32_) {
        std::copy_n(products.floats.data() + row * width, width, results);
        kernels.add(addend, width, results);
        return;
      }
    }
    dequantise(kernels, products.sums.data() + row * width, products.steps[row], addend, results);
  }

 private:
  void dequantise(const Kernels& kernels, const std::int32_t* sums, float step, const float* addend,
                  float* results) const {
    kernels.dequantise(sums, int8_->scales.data(), step, addend, outputs(), results);
  }
  void dequantise(const Kernels& kernels, const std::int32_t* sums, float step, const std::uint16_t* addend,
                  float* results) const {
    kernels.dequantise_half(sums, int8_->scales.data(), step, addend, outputs(), results);
  }

  std::optional<Int8Matrix> int8_;
  std::optional<FloatMatrix> float32_;
};

}  // namespace halfword
