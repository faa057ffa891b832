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

/// How the network multiplies: with 8-bit integers, or with 32-bit floats.
enum class Precision { int8, float32 };

/// Rows of inputs: floats, or for int8 bytes (value + 128) and one quantisation scale (`steps`) per row.
struct InputRows {
  AlignedVector<float> floats;
  AlignedVector<std::uint8_t> bytes;
  std::vector<float> steps;
};

/// Rows of products of a matrix with inputs: floats, or for int8 integer sums and the quantisation scales of the
/// inputs.
struct ProductRows {
  AlignedVector<float> floats;
  AlignedVector<std::int32_t> sums;
  std::vector<float> steps;
};

/// Make room for `size` values. Buffers never shrink, so after a while a thread allocates no more.
template <typename Buffer>
void grow(Buffer& buffer, std::size_t size) {
  if (buffer.size() < size) buffer.resize(size);
}

/// Prefetch an array that is needed soon and is probably not in the nearer caches.
template <typename T>
void prefetch(const T* data, std::size_t size) {
  const auto* bytes = reinterpret_cast<const char*>(data);
  for (std::size_t place = 0; place < size * sizeof(T); place += 64) __builtin_prefetch(bytes + place, 0, 2);
}

/// A matrix in 8 bits, as it lies in the file: a row for each output, with a scale of its own.
struct QuantisedRows {
  std::span<const std::int8_t> values;
  std::span<const float> scales;
};

/// The int8 form of a matrix, if the file has no other; throws unless its shape is (outputs, inputs).
std::optional<QuantisedRows> read_quantised(const ModelFile& file, const std::string& name, std::size_t outputs,
                                            std::size_t inputs);

/// Rows of a matrix as floats, from its fp32 form in the file, or else from its int8 form; throws unless its shape is
/// (outputs, inputs).
std::vector<float> read_rows(const ModelFile& file, const std::string& name, std::size_t outputs, std::size_t inputs,
                             std::size_t first, std::size_t count);

/// All rows of a matrix as floats.
std::vector<float> read_matrix(const ModelFile& file, const std::string& name, std::size_t outputs, std::size_t inputs);

/// Throws unless all values are finite; otherwise every score would be nonsense.
void check_finite(std::span<const float> values, const std::string& name);

/// A vector of floats, padded with zeros like outputs; throws unless it holds `size` values.
AlignedVector<float> read_vector(const ModelFile& file, const std::string& name, std::size_t size);

/// A matrix of the network, in the chosen precision.
class Linear {
 public:
  Linear(const ModelFile& file, const std::string& name, std::size_t outputs, std::size_t inputs, Precision precision);

  /// A matrix (outputs, inputs) that is not in the file; throws unless all values are finite.
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

  /// results = addend + products[row]; with int8 the addend may be bfloat16.
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
