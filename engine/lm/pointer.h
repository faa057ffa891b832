#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "lm/kernels/kernels.h"
#include "lm/linear.h"
#include "lm/pieces.h"
#include "store/model_file.h"

namespace halfword {

/// An earlier query of a session as the pointer sees it: its pieces and its end, and a key for each of them.
struct EarlierQuery {
  /// So many pieces of a query can be copied, the first ones. That bounds what a context can cost.
  static constexpr std::size_t most_pieces = 40;

  std::vector<PieceId> pieces;
  std::vector<float> keys;  // [piece][size]
};

/// What can be copied from the earlier queries of a session; made once per request.
struct Earlier {
  std::vector<PieceId> pieces;  // of all queries
  std::vector<float> biases;    // of each piece, by the age of its query
  FloatMatrix keys;             // (pieces, size)
};

/// Buffers for intermediate results; a thread keeps one and reuses it.
struct PointerScratch {
  InputRows states;
  ProductRows products;
  AlignedVector<float> asked;   // what one state asks for, and what "nothing" scores
  AlignedVector<float> scores;  // of the pieces of the earlier queries
  std::vector<float> copied;    // by piece: how likely it is copied; zeros between two calls
};

/// Copies pieces of earlier queries: a present state asks, the states before the earlier pieces answer, and "nothing"
/// is one more choice (the formula: training/network/pointer.py). Never changes once loaded.
class Pointer {
 public:
  /// `classes` is the number of classes of the memory's contexts.
  Pointer(const ModelFile& file, std::size_t hidden, std::size_t classes, Precision precision);

  std::size_t size() const { return size_; }

  /// Write the keys of the first `rows` states of `scratch` one after the other.
  void keys(const Kernels& kernels, std::size_t rows, PointerScratch& scratch, float* keys) const;

  /// Put earlier queries together, the last one first.
  Earlier join(std::span<const std::shared_ptr<const EarlierQuery>> queries) const;

  /// Let the first `rows` states of `scratch` ask.
  void ask(const Kernels& kernels, std::size_t rows, PointerScratch& scratch) const;

  /// Mix what a state that has asked copies into its logits, and return their new normaliser.
  float copy(const Kernels& kernels, const Earlier& earlier, std::size_t row, float nothing_bias, float normaliser,
             float* logits, PointerScratch& scratch) const;

  /// What is added to the score of "nothing" beside a memory, by the class of its context.
  float bias_of(std::size_t memory_class) const { return by_class_[memory_class]; }

 private:
  std::size_t size_;
  Linear query_;  // its last output is the score of "nothing"
  Linear key_;
  AlignedVector<float> nothing_bias_;  // zeros, but for "nothing"
  AlignedVector<float> zeros_;
  std::vector<float> ages_;
  std::vector<float> by_class_;
};

}  // namespace halfword
