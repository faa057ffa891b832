#pragma once

#include <algorithm>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "store/model_file.h"
#include "store/popular.h"

namespace halfword {

/// Queries by their keys (`text/fold.h`): those that are not their own key.
///
/// It is a popularity index over the keys, `popular.folded.*`, and an array that tells where the query of each key lies
/// in the index of queries. Of queries with the same key the second has a zero byte after it, the third two, and so on.
class FoldedQueries {
 public:
  explicit FoldedQueries(const ModelFile& file, const Popular& queries);

  /// Where the `count` most typed queries lie in the index of queries that have a key that begins with `key`.
  std::vector<std::size_t> most_typed(std::string_view key, std::size_t count) const;

  /// The queries whose keys begin with a key one by one, the most typed first.
  class Best {
   public:
    /// The count of the next one; below 0 if there is none.
    double most() const { return stretches_.most(); }

    /// The key of the next one, and where it lies in the index of queries.
    std::pair<std::string, std::size_t> take();

   private:
    friend class FoldedQueries;
    Best(const FoldedQueries& queries, std::string_view key, std::size_t count);

    const FoldedQueries& queries_;
    Popular::Stretches stretches_;
  };
  Best best(std::string_view key, std::size_t count) const { return {*this, key, count}; }

  /// Call `visit` with the place in the index of every query that has the key, or one that begins with it.
  template <typename Visit>
  void visit(std::string_view key, bool longer, const Visit& visit) const {
    const auto [first, last] = keys_.range_of(key);
    for (std::size_t place = first; place < last && (longer || key_at(place) == key); ++place)
      visit(position_of(place));
  }

 private:
  std::string key_at(std::size_t place) const;

  /// Where the query of a key lies; inside the index, whatever a damaged file says.
  std::size_t position_of(std::size_t place) const { return std::min<std::size_t>(position_[place], last_query_); }

  Popular keys_;
  std::span<const std::uint32_t> position_;
  std::size_t last_query_;
};

}  // namespace halfword
