#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "lm/pieces.h"
#include "search/search.h"

namespace halfword {

/// Where the searches of many prefixes set out, as flat arrays.
///
/// The pieces of all starts make one tree, in which starts that begin alike share what they have in common. Its nodes
/// lie level by level; node 0 has read the begin piece alone.
struct StartTree {
  std::vector<std::int32_t> level_ends;  // the number of nodes down to each level
  std::vector<std::int32_t> parents;     // by node
  std::vector<std::int32_t> pieces;      // by node
  std::vector<std::int32_t> prefixes;    // by start, rising
  std::vector<std::int32_t> nodes;       // by start: where its last piece is
  std::vector<std::int32_t> tails;       // by start: bytes of the prefix that the next piece must begin with
  std::vector<std::int32_t> firsts;      // by start: the next piece is one of those from here …
  std::vector<std::int32_t> lasts;       // … to before here, of all pieces sorted by text
  std::vector<std::int32_t> kinds;       // by start: a sum of the flags below
};

constexpr std::int32_t follows_space = 1;  // the text ends in a space
constexpr std::int32_t tail_is_space = 2;  // the next piece must begin with a space, and with no more than that

/// The starts of all prefixes, found on as many threads as asked for (0: one a core).
StartTree find_start_tree(const Pieces& pieces, std::span<const std::string> prefixes, const SearchOptions& options,
                          std::size_t threads);

/// A completion of an escaped prefix: it keeps all but the last `tail` bytes, and pieces follow, given from the last to
/// the first; negative ones are none.
std::string spell(const Pieces& pieces, std::string_view escaped, std::size_t tail,
                  std::span<const std::int32_t> reversed);

}  // namespace halfword
