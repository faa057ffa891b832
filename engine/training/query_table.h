#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "store/popular.h"

namespace halfword {

/// Texts one after the other, as a column store keeps them; a view of somebody else's memory.
struct TextColumn {
  std::string_view text;
  std::span<const std::uint64_t> begin;  // where each text begins, and where the last one ends

  std::size_t size() const { return begin.size() - 1; }
  std::string_view at(std::size_t place) const { return text.substr(begin[place], begin[place + 1] - begin[place]); }

  /// Throw if a text would lie outside, or if there are too many of them to be numbered in 32 bits.
  void check() const;
};

/// Queries, and how often each was typed.
struct QueryTable {
  TextColumn queries;
  std::span<const std::uint64_t> count;

  std::size_t size() const { return count.size(); }
  std::string_view at(std::size_t place) const { return queries.at(place); }
  void check() const;
};

/// A column that owns its texts.
struct OwnTexts {
  std::string text;
  std::vector<std::uint64_t> begin{0};

  void add(std::string_view more) {
    text.append(more);
    begin.push_back(text.size());
  }
  TextColumn view() const { return {text, begin}; }
};

/// The places of texts, sorted by their bytes; of equal texts the first comes first.
std::vector<std::uint32_t> byte_order(const TextColumn& texts);

/// Where a text lies among sorted ones; `order` tells the places in their order. Their number if it is not there.
std::size_t find_text(const TextColumn& texts, std::span<const std::uint32_t> order, std::string_view text);

/// A table that owns its columns.
struct OwnTable {
  OwnTexts queries;
  std::vector<std::uint64_t> count;
};

/// The sums of several tables: the most typed query first, of equals in the order of their bytes.
OwnTable sum_of(std::span<const QueryTable> tables);

/// The popularity index of a table; `order` is that of its texts.
PopularArrays index_table(const QueryTable& table, std::span<const std::uint32_t> order);

/// Queries by their keys, as `training/folding.py` explains; without texts where every query is its own key.
struct FoldedArrays {
  PopularArrays keys;
  std::vector<std::uint32_t> position;
};
FoldedArrays fold_table(const QueryTable& table, std::span<const std::uint32_t> order);

}  // namespace halfword
