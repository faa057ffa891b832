#pragma once

#include <cstdint>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include "training/query_table.h"

namespace halfword {

/// How alike two queries must be to be the same, mistyped and corrected (`training/channel.py`).
struct Likeness {
  std::size_t shortest = 5;    // characters of what was mistyped
  std::size_t most_edits = 2;  // letters that differ
};

/// Whether two queries differ in few letters, and none is only the beginning of the other.
bool are_alike(std::string_view typed, std::string_view meant, const Likeness& likeness);

/// The steps of sessions from one query of a table to the next in which a query was corrected: the next one is more
/// frequent and hardly different. `starts` tells where a session begins; `numbers` are places in the table.
std::vector<std::pair<std::uint32_t, std::uint32_t>> mine_pairs(const QueryTable& table,
                                                                std::span<const std::uint8_t> starts,
                                                                std::span<const std::uint32_t> numbers,
                                                                const Likeness& likeness);

}  // namespace halfword
