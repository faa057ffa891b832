#include "sources/inside_words.h"

#include <algorithm>
#include <optional>
#include <string>

#include "sort.h"
#include "text/characters.h"
#include "text/fold.h"

namespace halfword {
namespace {

/// Where a text has the typed letters, with enough letters of the same word before them; at the ending of the word, if
/// that is asked for.
std::optional<std::size_t> place_inside(std::string_view text, std::string_view typed, std::size_t before,
                                        bool ending) {
  for (std::size_t place = text.find(typed, before); place != std::string_view::npos;
       place = text.find(typed, place + 1)) {
    const std::size_t end = place + typed.size();
    if (ending && end < text.size() && text[end] != ' ') continue;
    if (text.substr(place - before, before).find(' ') == std::string_view::npos) return place;
  }
  return std::nullopt;
}

/// Where a word ends before which there are so many spaces.
std::size_t end_of_word(std::string_view text, std::ptrdiff_t spaces) {
  std::size_t end = text.find(' ');
  for (; spaces > 0 && end != std::string_view::npos; --spaces) end = text.find(' ', end + 1);
  return std::min(end, text.size());
}

}  // namespace

std::vector<FoundQuery> find_inside(const Popular& queries, std::string_view typed, const Policy& policy, bool folds,
                                    bool ending) {
  const std::string wanted = folds ? fold(typed) : std::string(typed);
  const bool few = static_cast<double>(queries.size()) <= policy.inside_most_queries;
  const auto letters = static_cast<double>(width_of(wanted));
  ending = ending || letters < policy.inside_fewest_typed;
  if (!few || letters < policy.inside_fewest_ending || wanted.find(' ') != std::string::npos) return {};
  const auto before = static_cast<std::size_t>(policy.inside_fewest_before);
  std::vector<FoundQuery> found;
  std::string text;
  for (std::size_t place = 0; place < queries.size(); ++place) {
    queries.read_text(place, text);
    const std::string key = folds && !is_plain(text) ? fold(text) : text;
    const auto inside = place_inside(key, wanted, before, ending);
    if (!inside || text.starts_with(typed)) continue;
    const auto end = key.begin() + static_cast<std::ptrdiff_t>(*inside);
    const std::size_t matched = end_of_word(text, std::count(key.begin(), end, ' '));
    const bool ends_word = place_inside(key, wanted, before, true).has_value();
    found.push_back(
        {text, static_cast<double>(queries.logged_at(place)), matched, ends_word ? 1.0 : policy.inside_factor});
  }
  return found;
}

}  // namespace halfword
