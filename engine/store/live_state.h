#pragma once

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "store/persistent_tree.h"

namespace halfword {

/// A changed query: what its count is made of.
struct LiveQuery {
  double typed = 0.0;    // times typed since the model was trained
  float weight = -1.0F;  // stands for the count in the log; below 0: the count in the log itself
  float boost = 1.0F;    // what the sum is multiplied by
  std::uint32_t logged = 0;
  bool removed = false;
  bool skipped = false;  // its place in the index is one of those that are skipped

  double count() const {
    if (removed) return 0.0;
    const double begun = weight < 0.0F ? static_cast<double>(logged) : static_cast<double>(weight);
    return (begun + typed) * static_cast<double>(boost);
  }
};

/// What changed queries add to what the index says of a range.
struct LiveSum {
  LiveSum() = default;
  explicit LiveSum(const LiveQuery& query) {
    const double count = query.count();
    const double known = query.skipped ? 0.0 : static_cast<double>(query.logged);
    total = count - known;
    most = static_cast<float>(count);
    if (static_cast<double>(most) < count) most *= 1.0F + 1.2e-7F;
    distinct = (count > 0.0 ? 1 : 0) - (known > 0.0 ? 1 : 0);
  }

  void add(const LiveSum& other) {
    total += other.total;
    most = std::max(most, other.most);
    distinct += other.distinct;
  }

  double total = 0.0;
  float most = 0.0F;  // no count is larger
  std::int32_t distinct = 0;
};

/// A number that belongs to a text, and no summary.
struct LiveFlag {
  std::uint32_t number = 0;
};
struct NoSummary {
  NoSummary() = default;
  explicit NoSummary(const LiveFlag&) {}
  void add(const NoSummary&) {}
};

using LiveQueries = PersistentTree<LiveQuery, LiveSum>;
using LiveFlags = PersistentTree<LiveFlag, NoSummary>;

/// A text that is shown at a position, counted from 1.
struct Pin {
  std::string text;
  std::size_t position;
};

/// Which queries may have been changed: never says no for one that was. One bit of about 16 per changed query is set.
class LiveFilter {
 public:
  explicit LiveFilter(std::size_t queries);

  void add(std::string_view text);
  bool may_hold(std::string_view text) const;
  std::size_t room() const { return bits_.size() * 64 / bits_per_query; }
  std::size_t bytes() const { return bits_.size() * sizeof(std::uint64_t); }

 private:
  static constexpr std::size_t bits_per_query = 16;

  std::vector<std::atomic<std::uint64_t>> bits_;
};

/// All changes at one moment. Never changes once it is published; copies share nearly everything.
struct LiveState {
  static constexpr std::uint32_t exactly = 1;
  static constexpr std::uint32_t beginning = 2;
  static constexpr std::size_t longest_text = 16'384;  // bytes
  using Range = std::pair<std::size_t, std::size_t>;

  LiveQueries queries;         // by text
  LiveQueries folded;          // by key, a zero byte and text, where the key is not the text
  LiveFlags removed;           // keys: `exactly`, `beginning` or both
  LiveFlags words;             // of changed queries that can be suggested, and in how many of them
  std::vector<Range> skipped;  // places of the index whose queries begin with what is removed; sorted, apart
  std::shared_ptr<const std::map<std::string, std::vector<Pin>, std::less<>>> pins;
  std::shared_ptr<LiveFilter> filter;
  double scale = 1.0;            // what every count is multiplied by where it is read (decay)
  std::uint64_t silenced = 0;    // queries of the log that are never suggested now, each by a change of its own
  std::uint64_t generation = 0;  // another one whenever anything is changed
  std::uint64_t beginnings = 0;  // keys that are removed with everything that begins so

  /// Whether a text is removed, in whatever way it is written.
  bool removes(std::string_view text) const;

  /// Whether the place in the index is one of those that are skipped.
  bool skips(std::size_t position) const;

  /// The change of a query; null if there is none.
  const LiveQuery* find(std::string_view text) const;

  std::size_t bytes() const;
};

/// The keys by which a text is removed: those of folding, or itself if it has none.
std::vector<std::string> removal_keys(std::string_view text);

/// The smallest text after all that begin with `prefix`; empty if there is none.
std::string after_all(std::string_view prefix);

}  // namespace halfword
