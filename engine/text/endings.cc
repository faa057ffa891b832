#include "text/endings.h"

#include <algorithm>

namespace halfword {
namespace {

constexpr std::size_t most_pairs = 64;
constexpr std::size_t shortest_stem = 3;  // bytes before an ending

bool may_end(std::string_view word, std::string_view ending) {
  return word.ends_with(ending) && word.size() >= ending.size() + shortest_stem;
}

}  // namespace

Endings::Endings(std::span<const std::uint8_t> array) {
  const std::string_view text(reinterpret_cast<const char*>(array.data()), array.size());
  for (std::size_t begin = 0; begin < text.size() && pairs_.size() < most_pairs;) {
    const std::size_t end = std::min(text.find('\n', begin), text.size());
    const std::string_view line = text.substr(begin, end - begin);
    const std::size_t space = std::min(line.find(' '), line.size());
    pairs_.emplace_back(line.substr(0, space), line.substr(std::min(space + 1, line.size())));
    begin = end + 1;
  }
}

std::vector<std::string> Endings::forms_of(std::string_view word) const {
  std::vector<std::string> forms;
  for (const auto& [ending, other] : pairs_) {
    if (!may_end(word, ending)) continue;
    forms.push_back(std::string(word.substr(0, word.size() - ending.size())).append(other));
  }
  return forms;
}

std::vector<std::string> Endings::all_in_one_form(std::string_view text) const {
  std::vector<std::string> texts;
  for (const auto& [ending, other] : pairs_) {
    std::string changed;
    std::size_t number = 0;
    for (std::size_t begin = 0; begin <= text.size();) {
      const std::size_t end = std::min(text.find(' ', begin), text.size());
      std::string_view word = text.substr(begin, end - begin);
      const bool changes = may_end(word, ending);
      if (changes) word.remove_suffix(ending.size());
      changed.append(word).append(changes ? other : std::string_view());
      if (end < text.size()) changed.push_back(' ');
      number += changes ? 1 : 0;
      begin = end + 1;
    }
    if (number > 1) texts.push_back(std::move(changed));
  }
  return texts;
}

}  // namespace halfword
