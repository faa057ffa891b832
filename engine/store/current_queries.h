#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "store/folded.h"
#include "store/live_state.h"
#include "store/popular.h"

namespace halfword {

/// The queries of the log with the changes of one moment: it answers as the popularity index of the sum would.
class CurrentQueries {
 public:
  /// `folded` and `live` may be null.
  CurrentQueries(const Popular& popular, const FoldedQueries* folded, const LiveState* live)
      : popular_(popular), folded_(folded), live_(live) {}

  /// As `Popular::most_typed`.
  TypedQueries most_typed(std::string_view prefix, std::size_t count, bool echo) const;

  /// How often a query was typed, which lies between two places of the index if anywhere there, and since when.
  struct Count {
    double count = 0.0;
    double since = 0.0;  // how much of it was added after the training; below 0 if changes took some away
  };
  Count count_of(std::string_view query, std::size_t first, std::size_t last) const;

  /// The `count` most typed queries that begin with `prefix` or are the prefix; ties are ordered by text.
  std::vector<TypedQuery> best_of(std::string_view prefix, std::size_t count) const;

  /// The `count` most typed queries that are not their own key and have a key that begins with `key`.
  std::vector<TypedQuery> best_folded(std::string_view key, std::size_t count) const;

  /// Whether so many different queries begin with `prefix`; `range` is where those of the log lie, if that is known.
  bool are_begun(std::string_view prefix, double least) const {
    return are_begun(prefix, least, popular_.range_of(prefix));
  }
  bool are_begun(std::string_view prefix, double least, std::pair<std::size_t, std::size_t> range) const;

  /// Whether any query of this moment is not its own key.
  bool holds_folded() const { return folded_ != nullptr || (live_ != nullptr && !live_->folded.empty()); }

  std::size_t size() const { return popular_.size(); }

 private:
  void add_itself(std::string_view text, std::size_t count, TypedQueries& typed) const;

  const Popular& popular_;
  const FoldedQueries* folded_;
  const LiveState* live_;
};

}  // namespace halfword
