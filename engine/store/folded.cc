#include "store/folded.h"

#include <algorithm>

namespace halfword {

FoldedQueries::FoldedQueries(const ModelFile& file, const Popular& queries)
    : keys_(file, "popular.folded"),
      position_(file.array<std::uint32_t>("popular.folded.position")),
      last_query_(queries.size() - 1) {
  if (position_.size() != keys_.size() || queries.size() == 0) {
    throw ModelFileError("the queries by their keys make no sense");
  }
}

std::vector<std::size_t> FoldedQueries::most_typed(std::string_view key, std::size_t count) const {
  std::vector<std::size_t> found = keys_.best_of(key, count);
  for (std::size_t& place : found) place = position_of(place);
  return found;
}

FoldedQueries::Best::Best(const FoldedQueries& queries, std::string_view key, std::size_t count)
    : queries_(queries), stretches_(queries.keys_, count) {
  const auto [first, last] = queries.keys_.range_of(key);
  stretches_.add(first, last);
}

std::pair<std::string, std::size_t> FoldedQueries::Best::take() {
  const std::size_t place = stretches_.take_best();
  return {queries_.key_at(place), queries_.position_of(place)};
}

std::string FoldedQueries::key_at(std::size_t place) const {
  std::string key = keys_.at(place).text;
  key.resize(std::min(key.find('\0'), key.size()));
  return key;
}

}  // namespace halfword
