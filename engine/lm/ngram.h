#pragma once

#include <algorithm>
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
/// leaves to shorter contexts, the factor that turns gains into probabilities, a bound that no probability after it
/// exceeds, but that of the end of a query, and what its own n-grams give to that end. Without n-grams it is empty.
struct NgramContext {
  std::uint32_t first = 0;
  std::uint32_t last = 0;
  float backoff = 1.0F;
  float scale = 0.0F;
  float peak = 1.0F;
  float ending = 0.0F;

  bool empty() const { return first == last; }
};

/// The state of the memory: the contexts of each length that end with the last piece read, length 1 first.
struct NgramState {
  static constexpr std::size_t longest = 7;
  std::array<NgramContext, longest> contexts;
  PieceId last = 0;  // the last piece read

  /// The length of the longest context that is not empty; 0 if there is none.
  std::size_t matched_order() const;

  /// The probability that the longest context leaves to shorter ones: near 0 if it was seen often, near 1 if rarely.
  float backoff() const;
};

/// A piece that may come next, with its probability or the logarithm of it.
struct LikelyPiece {
  PieceId piece;
  float value;

  /// Whether it comes before another one: more likely, and of equals the first in the vocabulary.
  bool operator<(const LikelyPiece& other) const {
    return value != other.value ? value > other.value : piece < other.piece;
  }
};

/// The likeliest pieces among those that are offered, `most` of them at most, none below `least`.
class LikelyPieces {
 public:
  void reset(float least, std::size_t most) {
    found_.clear();
    least_ = least;
    most_ = most;
  }

  std::size_t most() const { return most_; }

  /// What a further piece must have to find a place.
  float least() const { return least_; }

  /// Raise that, where so many pieces are known to have more.
  void raise(float least) { least_ = std::max(least_, least); }

  void offer(const LikelyPiece& likely) {
    if (!(likely.value >= least_)) return;
    if (found_.size() == most_) {
      if (!(likely < found_.front())) return;
      std::pop_heap(found_.begin(), found_.end());
      found_.pop_back();
    }
    found_.push_back(likely);
    std::push_heap(found_.begin(), found_.end());
    if (found_.size() == most_) least_ = std::max(least_, found_.front().value);
  }

  std::span<LikelyPiece> found() { return found_; }

 private:
  float least_ = 0.0F;
  std::size_t most_ = 0;
  std::vector<LikelyPiece> found_;  // a heap, the least likely on top
};

/// Room to find likely pieces in; a thread keeps one and uses it again.
struct NgramScratch {
  std::vector<float> sums;  // by piece: the probability by the contexts looked at so far, or `untouched`
  std::vector<PieceId> touched;
  std::vector<float> values;
  LikelyPieces likely;

  static constexpr float untouched = -1.0F;
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

  /// List the likeliest pieces after each piece, which makes `find_likely` faster; called once, after loading.
  void list_likely();

  /// The pieces that `predict` would give at least the least probability asked for, and no more of them than asked
  /// for: offered to `scratch.likely`, which was reset before. Only pieces whose `allowed` has one of the bits of
  /// `wanted` are looked at. The end of a query is never among them.
  ///
  /// What follows the longest contexts is looked at first. The shorter ones, which many pieces follow, are left alone
  /// as soon as nothing that follows them alone can be likely enough; and of what follows the last piece alone
  /// only the beginning of a list.
  void find_likely(const NgramState& state, std::span<const std::uint8_t> allowed, std::uint8_t wanted,
                   NgramScratch& scratch) const;

 private:
  /// What the gains after each context of a state are multiplied by, and what is left to shorter contexts.
  struct Shares {
    std::array<float, NgramState::longest> scales{};
    std::array<float, NgramState::longest + 1> left{};  // by length: to contexts of this length and shorter ones
  };

  /// Which pieces may be chosen.
  struct Choice {
    std::span<const std::uint8_t> allowed;
    std::uint8_t wanted;

    bool allows(PieceId piece) const { return (allowed[piece] & wanted) != 0; }
  };

  /// The n-grams of one order (2 or more), and the gains that their codes stand for.
  struct Level {
    std::span<const std::uint16_t> narrow;  // the entries, or
    std::span<const std::uint32_t> wide;    // the entries if the vocabulary is large
    std::span<const float> gains;
    std::vector<float> most_gained{};  // the largest gain of all codes up to each one

    std::size_t size() const { return narrow.size() + wide.size(); }
  };

  /// How many children each n-gram of one order has (all orders but the highest).
  struct Children {
    std::span<const std::uint64_t> bits;
    std::span<const std::uint32_t> samples;
    std::span<const std::uint8_t> backoffs;  // codes, of the n-grams with several children, or of all that have any
    std::span<const float> alone;            // by the code of an only child: its parent's backoff, or empty
    std::uint64_t single;                    // all bits if the backoffs of parents of one child are listed too
  };

  Level load_level(const ModelFile& file, std::size_t order) const;
  Children load_children(const ModelFile& file, std::size_t order, std::size_t size) const;
  /// An n-gram whose children are looked for.
  struct Found {
    std::uint32_t node = UINT32_MAX;  // its number; none if it is not there
    std::uint32_t first = 0;          // its children
    std::uint32_t last = 0;
    std::size_t parents_before = 0;  // n-grams before it whose backoffs are listed
  };

  /// Which of 64 pieces follow another one, and how many follow it that come before these.
  struct PairWord {
    std::uint64_t bits = 0;
    std::size_t before = 0;
  };

  Shares shares_of(const NgramState& state) const;
  void seek(std::size_t length, Found& found) const;
  NgramContext weighed(std::size_t length, const Found& found, float peak_of_shorter) const;
  NgramContext before_only_child(std::size_t length, const Found& found, float peak_of_shorter) const;
  void index_pairs();
  void list_pair_gains();
  std::uint32_t find_pair(PieceId piece, PieceId next) const;
  std::uint32_t find(std::size_t level, const NgramState& state, PieceId piece) const;
  float gain_of(std::size_t index, const NgramState& state, PieceId piece) const;
  void add_touched(std::size_t length, const NgramState& state, const Shares& shares, NgramScratch& scratch) const;
  float most_by(std::size_t length, const NgramState& state, const Shares& shares) const;
  float with_shorter(float sum, PieceId piece, std::size_t length, const NgramState& state, const Shares& shares,
                     float least) const;
  void raise_least(const Choice& choice, NgramScratch& scratch) const;
  void offer_touched(const NgramState& state, const Shares& shares, std::size_t length, const Choice& choice,
                     NgramScratch& scratch) const;
  bool offer_listed(const NgramState& state, const Shares& shares, const Choice& choice, NgramScratch& scratch) const;
  void offer_others(const NgramState& state, const Shares& shares, const Choice& choice, NgramScratch& scratch) const;
  template <typename Visit>
  void visit_entries(const Level& level, const NgramContext& context, const Visit& visit) const;

  PieceId begin_ = 0;
  PieceId end_ = 0;
  std::uint32_t code_bits_ = 0;
  std::span<const float> unigram_;
  std::span<const float> backoffs_;
  std::vector<Level> levels_;             // levels_[i] holds the n-grams of order i + 2
  std::vector<Children> children_;        // children_[i] holds the children of the n-grams of order i + 1
  std::vector<NgramContext> first_;       // the contexts of one piece, by piece
  std::vector<PieceId> by_unigram_;       // all pieces, the most frequent first
  std::vector<PairWord> pairs_;           // by piece: all others, 64 at a time; empty where it would be too large
  std::vector<std::uint8_t> pair_codes_;  // by piece and next piece: a place in `pair_gains_`; empty like `pairs_`
  std::vector<float> pair_gains_;         // 0 for pairs that are no n-gram, then the gain of each code
  std::size_t listed_ = 0;                // pieces listed after each piece
  std::vector<LikelyPiece> lists_;        // by piece: the likeliest after it alone, best first
};

}  // namespace halfword
