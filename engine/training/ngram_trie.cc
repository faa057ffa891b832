#include "training/ngram_trie.h"

#include <algorithm>
#include <array>
#include <limits>
#include <stdexcept>
#include <utility>

namespace halfword {
namespace {

constexpr std::size_t most_order = 8;
constexpr std::size_t parts_per_thread = 32;  // so that the threads end at about the same time
constexpr std::size_t bytes_of_ngram = 36;    // while the worth of each is worked out, which takes the most

/// Divide the pieces so that about as many windows begin with those of each part; returns where each part begins.
std::vector<PieceId> divide(const std::vector<std::uint64_t>& windows, std::size_t parts) {
  std::uint64_t total = 0;
  for (const std::uint64_t number : windows) total += number;
  std::vector<PieceId> begins{0};
  std::uint64_t inside = 0;
  for (PieceId piece = 0; piece < windows.size(); ++piece) {
    if (inside != 0 && (inside + windows[piece]) * parts > total) {
      begins.push_back(piece);
      inside = 0;
    }
    inside += windows[piece];
  }
  begins.push_back(static_cast<PieceId>(windows.size()));
  return begins;
}

}  // namespace

void NgramLevel::forget(std::size_t part) const {
  const std::size_t first = parts[part];
  const std::size_t last = parts[part + 1];
  piece.forget(first, last);
  first_child.forget(first, std::min(last, first_child.size()));
  if (!suffix.empty()) suffix.forget(first, last);
  adjusted.forget(first, last);
  if (!count.empty()) count.forget(first, last);
  if (!cut.empty()) cut.forget(first, last);
  if (!allowed.empty()) allowed.forget(first, last);
  if (!kept.empty()) kept.forget(first, last);
}

/// Makes a trie of sorted windows: once to know how many n-grams there are, and once to write them.
template <typename Key>
class TrieBuilder {
 public:
  TrieBuilder(const WindowRuns<Key>& runs, const WindowShape& shape, WindowKinds kinds, const Workers& workers)
      : runs_(runs),
        shape_(shape),
        kinds_(kinds),
        workers_(workers),
        begins_(divide(runs.by_first_piece(), workers.threads() * parts_per_thread)) {}

  NgramTrie build(std::size_t memory, const Scratch& files) {
    NgramTrie trie;
    trie.begin_ = shape_.begin;
    count(trie);
    std::size_t total = 0;
    for (const NgramLevel& level : trie.levels_) total += level.size;
    const std::size_t each = bytes_of_ngram + (kinds_.has_cuts ? 2 * sizeof(std::uint64_t) : 0);
    if (total * each + runs_.bytes() > memory) trie.scratch_ = files;
    trie.allocate(kinds_);
    workers_.each(parts(), [&](std::size_t part, std::size_t) {
      write(trie, part);
      runs_.forget(begins_[part], begins_[part + 1]);
      for (const NgramLevel& level : trie.levels_) level.forget(part);
    });
    // No window begins with an end, and each query has one end and one beginning.
    if (kinds_.has_cuts) trie.level(1).count[shape_.end] = trie.level(1).count[shape_.begin];
    return trie;
  }

 private:
  using Sizes = std::array<std::size_t, most_order + 1>;  // by order

  std::size_t parts() const { return begins_.size() - 1; }

  /// Find out how many n-grams each part has.
  void count(NgramTrie& trie) {
    std::vector<Sizes> sizes(parts());
    workers_.each(parts(), [&](std::size_t part, std::size_t) {
      visit(part, [&](Key, std::uint64_t, unsigned shared, unsigned length) {
        for (unsigned order = shared + 1; order <= length; ++order) ++sizes[part][order];
      });
      sizes[part][1] = begins_[part + 1] - begins_[part];
      runs_.forget(begins_[part], begins_[part + 1]);
    });
    for (std::size_t order = 1; order <= shape_.order; ++order) {
      NgramLevel level;
      level.parts.push_back(0);
      for (const Sizes& part : sizes) level.parts.push_back(level.parts.back() + part[order]);
      level.size = level.parts.back();
      if (level.size >= std::numeric_limits<std::uint32_t>::max()) throw std::length_error("too many n-grams");
      if (level.size != 0 || order == 2) trie.levels_.push_back(std::move(level));  // of pairs there is a level always
    }
  }

  /// Call `visit` with each window of a part, its count, how many pieces it shares with the one before, and its length.
  template <typename Visit>
  void visit(std::size_t part, const Visit& visit) const {
    Key before = 0;
    bool is_first = true;
    runs_.visit(begins_[part], begins_[part + 1], [&](Key key, std::uint64_t count) {
      const unsigned shared = is_first ? 0 : shape_.shared(before, key);
      visit(key, count, shared, shape_.length(key, shared));
      before = key;
      is_first = false;
    });
  }

  /// Write the n-grams of a part. An n-gram is closed, and its count is known, when one of its order or below follows.
  void write(NgramTrie& trie, std::size_t part) const {
    Sizes next{};    // where the next n-gram of each order goes
    Sizes counts{};  // of the n-grams that are not closed
    for (std::size_t order = 1; order <= trie.order(); ++order) next[order] = trie.level(order).parts[part];
    PieceId next_piece = begins_[part];
    unsigned open = 0;
    Key before = 0;
    const auto close = [&](unsigned down_to) {
      for (; open > down_to; --open) {
        const std::size_t place = open == 1 ? shape_.piece(before, 0) : next[open] - 1;
        this->close(trie, open, place, counts[open], shape_.piece(before, 0) == shape_.begin);
        counts[open - 1] += std::exchange(counts[open], 0);
      }
    };
    visit(part, [&](Key key, std::uint64_t count, unsigned shared, unsigned length) {
      close(shared);
      if (shared == 0) {
        for (; next_piece <= shape_.piece(key, 0); ++next_piece) {
          trie.level(1).first_child[next_piece] = static_cast<std::uint32_t>(next[2]);
        }
        next[1] = next_piece;
        open = 1;
      }
      for (; open < length; ++open) {
        NgramLevel& level = trie.level(open + 1);
        level.piece[next[open + 1]] = static_cast<std::uint16_t>(shape_.piece(key, open));
        if (open + 1 < trie.order()) {
          level.first_child[next[open + 1]] = static_cast<std::uint32_t>(next[open + 2]);
        }
        ++next[open + 1];
      }
      if (kinds_.has_cuts && is_cut(key, length)) {
        trie.level(length).cut[length == 1 ? shape_.piece(key, 0) : next[length] - 1] = count;
      }
      counts[length] += count;
      before = key;
    });
    close(0);
    for (; next_piece < begins_[part + 1]; ++next_piece) {
      trie.level(1).first_child[next_piece] = static_cast<std::uint32_t>(next[2]);
    }
  }

  void close(NgramTrie& trie, std::size_t order, std::size_t place, std::uint64_t count, bool begins) const {
    NgramLevel& level = trie.level(order);
    if (kinds_.has_cuts) level.count[place] = count;
    if (order == 1) return;
    if (begins || order == trie.order()) level.adjusted[place] = count;
    if (order == 2) trie.pair_counts_[place] = count;
    if (!level.allowed.empty()) level.allowed[place] = count >= kinds_.least_count;
  }

  bool is_cut(Key key, unsigned length) const {
    return length < shape_.order && shape_.piece(key, length) == shape_.begin &&
           shape_.piece(key, length - 1) != shape_.end;
  }

  const WindowRuns<Key>& runs_;
  const WindowShape& shape_;
  WindowKinds kinds_;
  const Workers& workers_;
  std::vector<PieceId> begins_;  // the first piece of each part
};

template <typename Key>
NgramTrie NgramTrie::of(const WindowRuns<Key>& runs, const WindowShape& shape, WindowKinds kinds, std::size_t memory,
                        const Scratch& files, const Workers& workers) {
  NgramTrie trie = TrieBuilder<Key>(runs, shape, kinds, workers).build(memory, files);
  for (std::size_t order = 3; order <= trie.order(); ++order) trie.find_suffixes(order, workers);
  return trie;
}

template NgramTrie NgramTrie::of(const WindowRuns<std::uint64_t>&, const WindowShape&, WindowKinds, std::size_t,
                                 const Scratch&, const Workers&);
template NgramTrie NgramTrie::of(const WindowRuns<Wide>&, const WindowShape&, WindowKinds, std::size_t, const Scratch&,
                                 const Workers&);

void NgramTrie::allocate(WindowKinds kinds) {
  for (std::size_t order = 1; order <= levels_.size(); ++order) {
    NgramLevel& each = level(order);
    each.adjusted = Column<std::uint64_t>(scratch_, each.size);
    if (kinds.has_cuts) {
      each.count = Column<std::uint64_t>(scratch_, each.size);
      each.cut = Column<std::uint64_t>(scratch_, each.size);
    }
    if (order < levels_.size()) {
      each.first_child = Column<std::uint32_t>(scratch_, each.size + 1);
      each.first_child[each.size] = static_cast<std::uint32_t>(level(order + 1).size);
    }
    if (order == 1) continue;
    each.piece = Column<std::uint16_t>(scratch_, each.size);
    if (kinds.least_count > 1) each.allowed = Column<std::uint8_t>(scratch_, each.size);
  }
  pair_counts_ = Column<std::uint64_t>(scratch_, level(2).size);
}

void NgramTrie::find_suffixes(std::size_t order, const Workers& workers) {
  level(order).suffix = Column<std::uint32_t>(scratch_, level(order).size);
  workers.each(parts(), [&](std::size_t part, std::size_t) {
    find_suffixes_of(order, part);
    level(order).forget(part);
  });
  for (std::size_t part = 0; part < parts(); ++part) {
    for (std::size_t below = order - 2; below <= order; ++below) level(below).forget(part);
  }
}

/// The suffix of a child of h is the child of the suffix of h with the same piece; both lists are sorted by piece.
void NgramTrie::find_suffixes_of(std::size_t order, std::size_t part) {
  NgramLevel& above = level(order);
  const NgramLevel& parents = level(order - 1);
  const NgramLevel& below = level(order - 2);
  const std::uint16_t* pieces = parents.piece.data();
  for (std::size_t parent = parents.parts[part]; parent < parents.parts[part + 1]; ++parent) {
    const std::size_t last = parents.first_child[parent + 1];
    std::size_t child = parents.first_child[parent];
    if (child == last) continue;
    const std::size_t suffix = parents.suffix_of(parent);
    const std::uint16_t* from = pieces + below.first_child[suffix];
    const std::uint16_t* const end = pieces + below.first_child[suffix + 1];
    for (; child < last; ++child) {
      from = std::lower_bound(from, end, above.piece[child]);
      if (from == end || *from != above.piece[child]) throw std::invalid_argument("a window is there without its end");
      above.suffix[child] = static_cast<std::uint32_t>(from - pieces);
    }
  }
}

std::pair<std::size_t, std::size_t> NgramTrie::beginnings(std::size_t order) const {
  std::size_t first = begin_;
  std::size_t last = first + 1;
  for (std::size_t below = 1; below < order; ++below) {
    first = level(below).first_child[first];
    last = level(below).first_child[last];
  }
  return {first, last};
}

}  // namespace halfword
