#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "training/query_table.h"

namespace halfword {

/// Which words occur together in queries, by their numbers; every pair is there in both directions.
struct WordPairs {
  std::vector<std::uint32_t> first;      // where the companions of a word begin, and where the last ones end
  std::vector<std::uint16_t> companion;  // in ascending order
  std::vector<std::uint32_t> together;   // in how many queries both occur
  std::vector<std::uint32_t> after;      // first × 2^16 + second, ascending: typed side by side, in `least` queries
};

/// Count the pairs of at most 2^16 words in queries of at most `most` different words.
WordPairs count_pairs(const QueryTable& table, const std::vector<std::string>& words, std::size_t most,
                      std::size_t least);

}  // namespace halfword
