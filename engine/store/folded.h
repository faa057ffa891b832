#pragma once

#include <cstdint>
#include <span>
#include <string_view>
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

 private:
  Popular keys_;
  std::span<const std::uint32_t> position_;
};

}  // namespace halfword
