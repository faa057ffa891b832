#include "text/inflections.h"

#include <algorithm>
#include <array>
#include <cstddef>

#include "text/characters.h"

namespace halfword {
namespace {

bool is_digit(char byte) { return byte >= '0' && byte <= '9'; }

constexpr std::size_t shortest_plural = 4;  // bytes; `gas` and `bus` are no plurals
constexpr std::array<std::string_view, 5> with_e{"che", "she", "xe", "sse", "zze"};  // watches, boxes

}  // namespace

void make_singular(std::string& word) {
  if (word.size() >= shortest_plural && word.ends_with('s') && !word.ends_with("ss")) word.pop_back();
  if (word.size() < shortest_plural) return;
  const auto ends_word = [&](std::string_view ending) { return word.ends_with(ending); };
  if (word.ends_with("ie")) {
    word.replace(word.size() - 2, 2, "y");
  } else if (std::any_of(with_e.begin(), with_e.end(), ends_word)) {
    word.pop_back();
  }
}

std::vector<std::string> without_endings(std::string_view text, double fewest, std::size_t most) {
  std::vector<std::string> stems;
  const std::size_t begin = text.rfind(' ') + 1;
  for (std::string_view stem = text; stems.size() < most;) {
    do {
      if (stem.size() <= begin || is_digit(stem.back())) return stems;
      stem.remove_suffix(1);
    } while (continues(text[stem.size()]));  // inside a character
    if (static_cast<double>(width_of(stem.substr(begin))) < fewest) return stems;
    stems.emplace_back(stem);
  }
  return stems;
}

std::optional<std::string> changed_plural(std::string_view text) {
  const std::string_view word = text.substr(text.rfind(' ') + 1);
  const bool changes = word.size() >= shortest_plural && word.back() == 'y' &&
                       std::string_view("aeiou").find(word[word.size() - 2]) == std::string_view::npos;
  if (!changes) return std::nullopt;
  return std::string(text.substr(0, text.size() - 1)).append("ies");
}

std::vector<std::string> singular_forms(std::string_view text) {
  const std::string_view word = text.substr(text.rfind(' ') + 1);
  std::string singular(word);
  make_singular(singular);
  std::vector<std::string> forms;
  const auto add = [&](std::string_view form) {
    if (form != word) forms.push_back(std::string(text.substr(0, text.size() - word.size())).append(form));
  };
  add(singular);
  if (word.size() > shortest_plural && word.ends_with("es")) add(word.substr(0, word.size() - 2));  // buses
  return forms;
}

std::vector<std::string> in_other_number(std::string_view text) {
  std::vector<std::string> texts;
  for (std::size_t begin = 0, end = 0; (end = text.find(' ', begin)) != std::string_view::npos; begin = end + 1) {
    const std::string_view word = text.substr(begin, end - begin);
    std::string other(word);
    make_singular(other);
    if (other == word) other += 's';
    texts.push_back(std::string(text.substr(0, begin)).append(other).append(text.substr(end)));
  }
  return texts;
}

std::string singular_before(std::string_view text) {
  std::string singular;
  std::size_t begin = 0;
  for (std::size_t end = 0; (end = text.find(' ', begin)) != std::string_view::npos; begin = end + 1) {
    std::string word(text.substr(begin, end - begin));
    make_singular(word);
    singular.append(word).push_back(' ');
  }
  return singular.append(text.substr(begin));
}

}  // namespace halfword
