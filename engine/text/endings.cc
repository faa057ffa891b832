#include "text/endings.h"

#include <algorithm>

#include "text/characters.h"

namespace halfword {
namespace {

constexpr std::size_t most_pairs = 128;   // as many of endings and of beginnings as are learned
constexpr std::size_t shortest_stem = 3;  // letters before an ending

/// What stands before a hyphen is the beginning of a word.
bool is_beginning(std::string_view affix) { return affix.ends_with('-'); }

}  // namespace

Endings::Endings(std::span<const std::uint8_t> array) {
  const std::string_view text(reinterpret_cast<const char*>(array.data()), array.size());
  for (std::size_t begin = 0; begin < text.size() && pairs_.size() < most_pairs;) {
    const std::size_t end = std::min(text.find('\n', begin), text.size());
    const std::string_view line = text.substr(begin, end - begin);
    const std::size_t space = std::min(line.find(' '), line.size());
    std::string_view affix = line.substr(0, space);
    std::string_view other = line.substr(std::min(space + 1, line.size()));
    const bool begins = is_beginning(affix) && is_beginning(other);
    if (begins) affix.remove_suffix(1), other.remove_suffix(1);
    pairs_.push_back({affix, other, begins});
    begin = end + 1;
  }
}

std::optional<std::string> Endings::Pair::changed(std::string_view word) const {
  if (!(begins ? word.starts_with(affix) : word.ends_with(affix))) return std::nullopt;
  const std::string_view stem = word.substr(begins ? affix.size() : 0, word.size() - affix.size());
  if (width_of(stem) < shortest_stem) return std::nullopt;
  return begins ? std::string(other).append(stem) : std::string(stem).append(other);
}

std::optional<std::string> Endings::Pair::all_changed(std::string_view text) const {
  std::string changed_text;
  std::size_t number = 0;
  for (std::size_t begin = 0; begin <= text.size();) {
    const std::size_t end = std::min(text.find(' ', begin), text.size());
    const std::string_view word = text.substr(begin, end - begin);
    const std::optional<std::string> form = changed(word);
    changed_text.append(form ? std::string_view(*form) : word);
    if (end < text.size()) changed_text.push_back(' ');
    number += form ? 1 : 0;
    begin = end + 1;
  }
  if (number < 2) return std::nullopt;
  return changed_text;
}

}  // namespace halfword
