#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "lm/pieces.h"
#include "store/model_file.h"

namespace halfword {

/// A context, that is the last few pieces: its n-grams in the next level (first … last − 1), the probability that it
/// leaves to shorter contexts, and the factor that turns gains into probabilities. Without n-grams it is empty.
struct NgramContext {
  std::uint32_t first = 0;
  std::uint32_t last = 0;
  float backoff = 1.0F;
  float scale = 0.0F;

  bool empty() const { return first == last; }
};

/// The state of the memory: the contexts of each length that end with the last piece read, length 1 first.
struct NgramState {
  static constexpr std::size_t longest = 7;
  std::array<NgramContext, longest> contexts;

  /// The length of the longest context that is not empty; 0 if there is none.
  std::size_t matched_order() const;

  /// The probability that the longest context leaves to shorter ones: near 0 if it was seen often, near 1 if rarely.
  float backoff() const;
};

/// The n-gram memory of a model file; `src/halfword/training/ngram.py` explains the layout. Never changes once loaded,
/// so one instance serves every thread. A damaged file is refused or gives wrong numbers; no read leaves its array.
class Ngram {
 public:
  explicit Ngram(const ModelFile& file);

  /// The number of pieces, which must be that of the model's vocabulary.
  std::size_t vocabulary() const { return unigram_.size(); }

  /// The number of pieces of the longest n-grams.
  std::size_t order() const { return levels_.size() + 1; }

  /// The number of n-grams of two or more pieces.
  std::size_t size() const;

  /// The state before the first piece of a query.
  NgramState start() const;

  /// The state after one more piece.
  NgramState advance(const NgramState& state, PieceId piece) const;

  /// Fill `probabilities`, one per piece of the vocabulary. They sum to one; that of the begin piece is 0.
  void predict(const NgramState& state, std::span<float> probabilities) const;

  /// The probability of one piece: what `predict` would give it.
  float probability(const NgramState& state, PieceId piece) const;

 private:
  /// The n-grams of one order (2 or more), and the gains that their codes stand for.
  struct Level {
    std::span<const std::uint16_t> narrow;  // the entries, or
    std::span<const std::uint32_t> wide;    // the entries if the vocabulary is large
    std::span<const float> gains;

    std::size_t size() const { return narrow.size() + wide.size(); }
  };

  /// How many children each n-gram of one order has (all orders but the highest).
  struct Children {
    std::span<const std::uint64_t> bits;
    std::span<const std::uint32_t> samples;
    std::span<const std::uint8_t> backoffs;
  };

  Level load_level(const ModelFile& file, std::size_t order) const;
  Children load_children(const ModelFile& file, std::size_t order, std::size_t size) const;
  NgramContext context(std::size_t length, std::uint32_t node) const;
  std::uint32_t find(std::size_t level, const NgramContext& context, PieceId piece) const;
  template <typename Entry>
  void add(std::span<const Entry> entries, std::span<const float> gains, float scale,
           std::span<float> probabilities) const;

  PieceId begin_ = 0;
  std::uint32_t code_bits_ = 0;
  std::span<const float> unigram_;
  std::span<const float> backoffs_;
  std::vector<Level> levels_;        // levels_[i] holds the n-grams of order i + 2
  std::vector<Children> children_;   // children_[i] holds the children of the n-grams of order i + 1
  std::vector<NgramContext> first_;  // the contexts of one piece, by piece
};

}  // namespace halfword
