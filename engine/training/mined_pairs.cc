#include "training/mined_pairs.h"

#include <algorithm>
#include <set>
#include <string>

#include "text/characters.h"

namespace halfword {
namespace {

std::u32string code_points(std::string_view text) {
  std::u32string points;
  while (!text.empty()) {
    const std::string_view character = first_character(text);
    points.push_back(code_of(character));
    text.remove_prefix(character.size());
  }
  return points;
}

std::size_t length_of(std::string_view text) {
  return static_cast<std::size_t>(std::count_if(text.begin(), text.end(), [](char byte) { return !continues(byte); }));
}

/// How many characters occur in one of two texts alone.
std::size_t different_characters(const std::u32string& one, const std::u32string& other) {
  const std::set<char32_t> left(one.begin(), one.end());
  const std::set<char32_t> right(other.begin(), other.end());
  const auto alone = [](const std::set<char32_t>& in, const std::set<char32_t>& out) {
    return std::count_if(in.begin(), in.end(), [&](char32_t each) { return !out.contains(each); });
  };
  return static_cast<std::size_t>(alone(left, right) + alone(right, left));
}

/// How many letters were added, left out or replaced, or pairs of neighbours swapped.
std::size_t edits_between(const std::u32string& typed, const std::u32string& meant) {
  const std::size_t width = meant.size() + 1;
  std::vector<std::size_t> cost((typed.size() + 1) * width);
  const auto at = [&](std::size_t i, std::size_t j) -> std::size_t& { return cost[i * width + j]; };
  for (std::size_t i = 0; i <= typed.size(); ++i) {
    for (std::size_t j = 0; j < width; ++j) {
      if (i == 0 || j == 0) {
        at(i, j) = i + j;
        continue;
      }
      const std::size_t replaced = at(i - 1, j - 1) + (typed[i - 1] != meant[j - 1] ? 1 : 0);
      at(i, j) = std::min({at(i - 1, j) + 1, at(i, j - 1) + 1, replaced});
      if (i > 1 && j > 1 && typed[i - 1] == meant[j - 2] && typed[i - 2] == meant[j - 1]) {
        at(i, j) = std::min(at(i, j), at(i - 2, j - 2) + 1);
      }
    }
  }
  return at(typed.size(), meant.size());
}

}  // namespace

bool are_alike(std::string_view typed, std::string_view meant, const Likeness& likeness) {
  if (typed.starts_with(meant) || meant.starts_with(typed)) return false;
  const std::size_t length = length_of(typed);
  const std::size_t other = length_of(meant);
  if (length < likeness.shortest || std::max(length, other) - std::min(length, other) > likeness.most_edits) {
    return false;
  }
  const std::u32string one = code_points(typed);
  const std::u32string two = code_points(meant);
  return different_characters(one, two) <= 2 * likeness.most_edits && edits_between(one, two) <= likeness.most_edits;
}

std::vector<std::pair<std::uint32_t, std::uint32_t>> mine_pairs(const QueryTable& table,
                                                                std::span<const std::uint8_t> starts,
                                                                std::span<const std::uint32_t> numbers,
                                                                const Likeness& likeness) {
  std::vector<std::pair<std::uint32_t, std::uint32_t>> pairs;
  for (std::size_t row = 1; row < numbers.size(); ++row) {
    const std::uint32_t typed = numbers[row - 1];
    const std::uint32_t meant = numbers[row];
    if (starts[row] != 0 || typed >= table.size() || meant >= table.size()) continue;
    if (table.count[meant] > table.count[typed] && are_alike(table.at(typed), table.at(meant), likeness)) {
      pairs.emplace_back(typed, meant);
    }
  }
  return pairs;
}

}  // namespace halfword
