#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>
#include <vector>

#include "lm/pieces.h"
#include "sort.h"

namespace halfword {

/// A hypothesis and its next piece, waiting for its turn.
struct Child {
  static constexpr std::uint32_t unread = UINT32_MAX;

  double score;
  std::uint32_t parent;  // index of the hypothesis
  PieceId piece;
  std::uint32_t row = unread;  // of its state and prediction, once it was read

  /// Better last; of equals the one found first.
  bool operator<(const Child& other) const {
    if (score != other.score) return score < other.score;
    return parent != other.parent ? parent > other.parent : piece > other.piece;
  }
};

/// The children that wait, parted by their length in pieces.
///
/// Whoever takes the best child of all, and offers its children in turn, takes of every length the best there are, as
/// many as the beam holds: what is offered later comes from a worse hypothesis, and no child is better than its parent.
/// So it is a beam search, but one that may stop at any child and has then seen all that are better. Whoever takes the
/// best child of the shortest length takes the same, since no shorter one is left to offer others of that length; but
/// stopping early then leaves out what is long, not what is worse.
class Frontier {
 public:
  /// Forget everything; `beam` children of a length are taken at most.
  void reset(std::size_t beam);

  /// Let children wait among those of `length` pieces: the best of both, as many as have a place. `lose` is called with
  /// each of the others. The children are put in order, and there are no more of them than there is room for.
  template <typename Lose>
  void offer(std::size_t length, std::vector<Child>& children, const Lose& lose) {
    sort_list(children);
    Level& level = level_at(length);
    std::vector<Child>& waiting = level.waiting;
    merged_.resize(waiting.size() + children.size());
    std::merge(waiting.begin(), waiting.end(), children.begin(), children.end(), merged_.begin());
    const std::size_t lost = merged_.size() - std::min(merged_.size(), beam_ - level.taken);
    for (std::size_t i = 0; i < lost; ++i) lose(merged_[i]);
    waiting.assign(merged_.begin() + static_cast<std::ptrdiff_t>(lost), merged_.end());
  }

  /// What a child of `length` pieces must exceed to have a place.
  double threshold(std::size_t length) const;

  /// How many children of `length` pieces may still be taken.
  std::size_t room(std::size_t length) const { return length < used_ ? beam_ - levels_[length].taken : beam_; }

  /// The length of the best child of all; 0 when none waits.
  std::size_t best_length() const;

  /// The shortest length that has a child; 0 when none waits.
  std::size_t shortest_length() const;

  /// The best child of a length that has one.
  Child& best(std::size_t length) { return levels_[length].waiting.back(); }

  /// Take that child away.
  Child take(std::size_t length);

  /// Point at the best children of `shortest` to `longest` pieces that are still unread and `wanted`, `most` at most,
  /// best first.
  template <typename Wanted>
  void find_unread(std::size_t shortest, std::size_t longest, std::size_t most, const Wanted& wanted,
                   std::vector<Child*>& found) {
    found.clear();
    const std::size_t end = std::min(longest + 1, used_);
    for (std::size_t length = shortest; length < end; ++length) levels_[length].passed = 0;
    while (found.size() < most) {
      Level* best = nullptr;
      for (std::size_t length = shortest; length < end; ++length) {
        Level& level = levels_[length];
        while (level.passed < level.waiting.size() && !(level.next().row == Child::unread && wanted(level.next()))) {
          ++level.passed;
        }
        if (level.passed == level.waiting.size()) continue;
        if (best == nullptr || level.next().score > best->next().score) best = &level;
      }
      if (best == nullptr) return;
      found.push_back(&best->next());
      ++best->passed;
    }
  }

 private:
  struct Level {
    std::vector<Child> waiting;  // the best last
    std::size_t taken = 0;
    std::size_t passed = 0;  // by find_unread

    Child& next() { return waiting[waiting.size() - 1 - passed]; }
  };

  Level& level_at(std::size_t length) {
    if (levels_.size() <= length) levels_.resize(length + 1);
    used_ = std::max(used_, length + 1);
    return levels_[length];
  }

  std::vector<Level> levels_;  // by length; one that was used stays, for its memory
  std::vector<Child> merged_;
  std::size_t used_ = 0;
  std::size_t beam_ = 0;
};

}  // namespace halfword
