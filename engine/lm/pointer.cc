#include "lm/pointer.h"

#include <algorithm>
#include <cmath>
#include <utility>

namespace halfword {
namespace {

constexpr std::size_t widest = 1024;  // numbers of a key; more is a damaged file

std::size_t size_of(const ModelFile& file, std::size_t hidden) {
  const std::size_t numbers = file.array<float>("pointer.key").size();
  if (numbers == 0 || numbers % hidden != 0 || numbers / hidden > widest)
    throw ModelFileError("the pointer does not fit the network");
  return numbers / hidden;
}

/// What a state is multiplied by: the queries, scaled so that products with keys are scores, and "nothing".
std::vector<float> asking(const ModelFile& file, std::size_t size, std::size_t hidden) {
  std::vector<float> rows = read_matrix(file, "pointer.query", size, hidden);
  for (float& value : rows) value /= std::sqrt(static_cast<float>(size));
  const std::vector<float> nothing = read_matrix(file, "pointer.nothing", 1, hidden);
  rows.insert(rows.end(), nothing.begin(), nothing.end());
  return rows;
}

std::vector<float> read_some(const ModelFile& file, const std::string& name, std::size_t size) {
  const AlignedVector<float> values = read_vector(file, name, size);
  return {values.begin(), values.begin() + static_cast<std::ptrdiff_t>(size)};
}

}  // namespace

Pointer::Pointer(const ModelFile& file, std::size_t hidden, std::size_t classes, Precision precision)
    : size_(size_of(file, hidden)),
      query_(asking(file, size_, hidden), size_ + 1, precision),
      key_(file, "pointer.key", size_, hidden, precision),
      nothing_bias_(query_.outputs()),
      zeros_(key_.outputs()),
      ages_(file.array<float>("pointer.age").begin(), file.array<float>("pointer.age").end()),
      by_class_(classes) {
  if (ages_.empty()) throw ModelFileError("the pointer knows no ages");
  check_finite(ages_, "the array pointer.age");
  nothing_bias_[size_] = read_some(file, "pointer.nothing_bias", 1).front();
  if (file.holds("pointer.by_class")) by_class_ = read_some(file, "pointer.by_class", classes);
}

void Pointer::keys(const Kernels& kernels, std::size_t rows, PointerScratch& scratch, float* keys) const {
  grow(scratch.asked, key_.outputs());
  key_.multiply(kernels, scratch.states, rows, scratch.products);
  for (std::size_t row = 0; row < rows; ++row) {
    key_.add(kernels, scratch.products, row, zeros_.data(), scratch.asked.data());
    std::copy_n(scratch.asked.data(), size_, keys + row * size_);
  }
}

Earlier Pointer::join(std::span<const std::shared_ptr<const EarlierQuery>> queries) const {
  std::vector<PieceId> pieces;
  std::vector<float> biases;
  std::vector<float> keys;
  for (std::size_t age = 0; age < queries.size(); ++age) {
    const EarlierQuery& query = *queries[age];
    pieces.insert(pieces.end(), query.pieces.begin(), query.pieces.end());
    biases.insert(biases.end(), query.pieces.size(), ages_[std::min(age, ages_.size() - 1)]);
    keys.insert(keys.end(), query.keys.begin(), query.keys.end());
  }
  FloatMatrix matrix(keys, pieces.size());
  return {std::move(pieces), std::move(biases), std::move(matrix)};
}

void Pointer::ask(const Kernels& kernels, std::size_t rows, PointerScratch& scratch) const {
  query_.multiply(kernels, scratch.states, rows, scratch.products);
}

float Pointer::copy(const Kernels& kernels, const Earlier& earlier, std::size_t row, float nothing_bias,
                    float normaliser, float* logits, PointerScratch& scratch) const {
  const std::size_t pieces = earlier.pieces.size();
  grow(scratch.asked, std::max(query_.outputs(), earlier.keys.inputs));
  grow(scratch.scores, std::max(earlier.keys.outputs, pieces + 1));
  query_.add(kernels, scratch.products, row, nothing_bias_.data(), scratch.asked.data());
  const float nothing = scratch.asked[size_] + nothing_bias;
  std::fill(scratch.asked.begin() + static_cast<std::ptrdiff_t>(size_), scratch.asked.end(), 0.0F);
  kernels.multiply_float(earlier.keys, scratch.asked.data(), 1, scratch.scores.data());
  for (std::size_t i = 0; i < pieces; ++i) scratch.scores[i] += earlier.biases[i];
  scratch.scores[pieces] = nothing;
  const float total = kernels.log_sum_exp(scratch.scores.data(), pieces + 1);
  for (std::size_t i = 0; i < pieces; ++i) {
    scratch.copied[earlier.pieces[i]] += std::exp(scratch.scores[i] - total);
  }
  const float kept = std::exp(nothing - total);
  const float scaled = normaliser - (nothing - total);
  for (const PieceId piece : earlier.pieces) {
    const float copied = std::exchange(scratch.copied[piece], 0.0F);
    if (copied > 0.0F) logits[piece] = std::log(kept * std::exp(logits[piece] - normaliser) + copied) + scaled;
  }
  return scaled;
}

}  // namespace halfword
