#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "training/query_table.h"

namespace halfword {

/// Positions in the popularity index of a table, sorted by the letters of its queries (`text/letters.h`); those whose
/// place in the table is marked in `left_out` are missing.
std::vector<std::uint32_t> letter_order(const QueryTable& table, std::span<const std::uint32_t> order,
                                        std::span<const std::uint8_t> left_out);

/// The domain that most queries end with, the first of equals; empty if fewer than `share` of all queries do.
std::string frequent_domain(const QueryTable& table, double share);

}  // namespace halfword
