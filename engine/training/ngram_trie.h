#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "training/column.h"
#include "training/window_runs.h"
#include "training/workers.h"

namespace halfword {

/// All n-grams of one order, sorted by (parent, piece). The parent of an n-gram is the n-gram without its last piece,
/// its suffix the n-gram without its first piece; both are one order below. In order 1 each piece has the index of its
/// id, and only `first_child` and `adjusted` are there.
struct NgramLevel {
  std::size_t size = 0;
  Column<std::uint16_t> piece;
  Column<std::uint32_t> first_child;  // of each n-gram in the next order, and where the last one's children end
  Column<std::uint32_t> suffix;       // from order 3 on; in order 2 it is the piece
  Column<std::uint64_t> adjusted;     // the adjusted count
  Column<std::uint64_t> count;        // how often it occurs, if some windows were cut; otherwise empty
  Column<std::uint64_t> cut;          // how often what follows was cut, if some windows were
  Column<std::uint8_t> allowed;       // whether it occurs often enough to be kept; if empty, all do
  Column<std::uint8_t> kept;          // if empty, all are
  std::vector<std::size_t> parts;     // where each part of the level begins, and where the last one ends

  bool is_allowed(std::size_t place) const { return allowed.empty() || allowed[place] != 0; }
  bool is_kept(std::size_t place) const { return kept.empty() || kept[place] != 0; }
  std::size_t suffix_of(std::size_t place) const { return suffix.empty() ? piece[place] : suffix[place]; }

  std::uint64_t cut_after(std::size_t place) const { return cut.empty() ? 0 : cut[place]; }

  /// Let go of the memory of a part.
  void forget(std::size_t part) const;
};

/// What is to be known of windows before a trie is made of them.
struct WindowKinds {
  std::uint64_t least_count;  // n-grams that occur less often are not allowed to be kept
  bool has_cuts;              // whether some windows were cut
};

/// All n-grams of a corpus, one level per order. Every level is divided into parts by the first piece of its n-grams,
/// so that the children of a part are the same part of the next level. Threads share the work by parts.
class NgramTrie {
 public:
  /// The n-grams of all windows. They take about `memory` bytes; if that is too little, they are in files.
  template <typename Key>
  static NgramTrie of(const WindowRuns<Key>& runs, const WindowShape& shape, WindowKinds kinds, std::size_t memory,
                      const Scratch& files, const Workers& workers);

  std::size_t order() const { return levels_.size(); }
  std::size_t vocabulary() const { return levels_.front().size; }
  std::size_t parts() const { return levels_.front().parts.size() - 1; }
  PieceId begin() const { return begin_; }
  const Scratch& scratch() const { return scratch_; }

  /// The n-grams of an order, 1 or more.
  NgramLevel& level(std::size_t order) { return levels_[order - 1]; }
  const NgramLevel& level(std::size_t order) const { return levels_[order - 1]; }

  /// The n-grams of an order that begin a query are those from the first number to the second.
  std::pair<std::size_t, std::size_t> beginnings(std::size_t order) const;

  /// How often each pair of pieces occurs.
  const Column<std::uint64_t>& pair_counts() const { return pair_counts_; }

 private:
  template <typename Key>
  friend class TrieBuilder;

  void allocate(WindowKinds kinds);
  void find_suffixes(std::size_t order, const Workers& workers);
  void find_suffixes_of(std::size_t order, std::size_t part);

  PieceId begin_ = 0;
  Scratch scratch_;
  std::vector<NgramLevel> levels_;
  Column<std::uint64_t> pair_counts_;
};

}  // namespace halfword
