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

/// What follows some last pieces: which n-grams of the next level, how much is left to shorter contexts, and the factor
/// that turns gains into probabilities. A context that nothing follows is empty.
struct NgramContext {
  std::uint32_t first = 0;
  std::uint32_t last = 0;
  float backoff = 1.0F;
  float scale = 0.0F;

  bool empty() const { return first == last; }
};

/// What the memory remembers of the pieces it has read: the context of each length that it knows, length 1 first.
/// Copying it forks a hypothesis.
struct NgramState {
  static constexpr std::size_t longest = 7;
  std::array<NgramContext, longest> contexts;

  /// The length of the longest context known; 0 when there is none.
  std::size_t matched_order() const;

  /// How much the longest context leaves to shorter ones: near 0 it has seen much and is sure, near 1 it knows little.
  float backoff() const;
};

/// The n-gram memory of a model file, laid out as `src/halfword/ngram.py` explains. Never changes once loaded, so one
/// instance serves every thread. A damaged file gives wrong numbers, or is refused; no read leaves its array.
class Ngram {
 public:
  explicit Ngram(const ModelFile& file);

  /// The number of pieces it knows, which must be that of the model's pieces.
  std::size_t vocabulary() const { return unigram_.size(); }

  /// The most pieces an n-gram has.
  std::size_t order() const { return levels_.size() + 1; }

  /// The number of n-grams of two pieces and more.
  std::size_t size() const;

  /// The state before the first piece of a query.
  NgramState start() const;

  /// The state after one more piece.
  NgramState advance(const NgramState& state, PieceId piece) const;

  /// Fill `probabilities`, one for each piece of the vocabulary; they sum to one, and the begin piece has none.
  void predict(const NgramState& state, std::span<float> probabilities) const;

  /// The probability of one piece: what `predict` would give it.
  float probability(const NgramState& state, PieceId piece) const;

 private:
  /// The n-grams of one order from 2 on, and what their codes mean.
  struct Level {
    std::span<const std::uint16_t> narrow;  // entries, or
    std::span<const std::uint32_t> wide;    // entries of a large vocabulary
    std::span<const float> gains;

    std::size_t size() const { return narrow.size() + wide.size(); }
  };

  /// How many children each n-gram of one order has, below the highest.
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
  std::vector<Children> children_;   // children_[i] those of order i + 1, as contexts
  std::vector<NgramContext> first_;  // the contexts of one piece, by piece
};

}  // namespace halfword
