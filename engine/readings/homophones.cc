#include "readings/homophones.h"

#include <algorithm>
#include <cmath>
#include <string>
#include <utility>

#include "sort.h"
#include "text/characters.h"

namespace halfword {
namespace {

/// The first characters of a text, as many as asked for.
std::string_view first_characters(std::string_view text, std::size_t count) {
  std::size_t bytes = 0;
  for (; count > 0 && bytes < text.size(); --count) bytes += first_character(text.substr(bytes)).size();
  return text.substr(0, bytes);
}

/// How many characters of two texts differ, and how many come after the last of these.
struct Difference {
  double characters = 0.0;
  double after = 0.0;
};

Difference difference_of(std::string_view one, std::string_view other) {
  Difference found;
  while (!one.empty() && !other.empty()) {
    const std::string_view left = first_character(one);
    const std::string_view right = first_character(other);
    found.after = left == right ? found.after + 1.0 : 0.0;
    if (left != right) found.characters += 1.0;
    one.remove_prefix(left.size());
    other.remove_prefix(right.size());
  }
  return found;
}

bool is_better(const Reading& left, const Reading& right) {
  const double first = left.gain + left.log_probability;
  const double second = right.gain + right.log_probability;
  return first != second ? first > second : left.text < right.text;
}

}  // namespace

Homophones::Homophones(const ModelFile& file, const Popular& queries)
    : queries_(queries),
      keys_(file, "pinyin"),
      position_(file.array<std::uint32_t>("pinyin.position")),
      letter_(file.array<std::uint32_t>("pinyin.letter")),
      syllable_(file.array<std::uint8_t>("pinyin.syllable")),
      syllable_begin_(file.array<std::uint32_t>("pinyin.syllable_begin")) {
  const auto lies_inside = [&](std::uint32_t position) { return position < queries.size(); };
  const bool sound = syllable_begin_.size() == letter_.size() + 1 && syllable_begin_.back() <= syllable_.size() &&
                     std::is_sorted(syllable_begin_.begin(), syllable_begin_.end()) &&
                     position_.size() == keys_.size() && std::all_of(position_.begin(), position_.end(), lies_inside);
  if (!sound) throw ModelFileError("the pinyin of characters makes no sense");
}

/// What is typed for a Chinese character; nothing if that is not known.
std::optional<std::string_view> Homophones::syllable_of(char32_t letter) const {
  const auto found = std::lower_bound(letter_.begin(), letter_.end(), static_cast<std::uint32_t>(letter));
  if (found == letter_.end() || *found != letter) return std::nullopt;
  const auto place = static_cast<std::size_t>(found - letter_.begin());
  const std::size_t begin = syllable_begin_[place];
  return std::string_view(reinterpret_cast<const char*>(syllable_.data()) + begin, syllable_begin_[place + 1] - begin);
}

std::vector<Reading> Homophones::readings_of(std::string_view typed, const Policy& policy) const {
  std::string key;
  std::string lengths;
  bool chinese = false;
  for (std::string_view rest = typed; !rest.empty();) {
    const std::string_view character = first_character(rest);
    rest.remove_prefix(character.size());
    const std::optional<std::string_view> syllable = syllable_of(code_of(character));
    const std::string_view spelled = character == " " ? "" : syllable.value_or(character);
    chinese = chinese || syllable.has_value();
    key.append(spelled);
    lengths += static_cast<char>('`' + spelled.size());
  }
  std::vector<Reading> readings;
  if (!chinese || static_cast<double>(lengths.size()) < policy.pinyin_fewest_characters) return readings;
  for (const std::size_t place : keys_.best_of(key, static_cast<std::size_t>(policy.pinyin_count))) {
    const std::string known = keys_.at(place).text;
    const std::string_view of_each = std::string_view(known).substr(std::min(known.find('\0') + 1, known.size()));
    if (!of_each.starts_with(lengths)) continue;
    const std::string query = queries_.at(position_[place]).text;
    const std::string_view text = first_characters(query, lengths.size());
    const auto same = [&](const Reading& other) { return other.text == text; };
    if (text == typed || std::any_of(readings.begin(), readings.end(), same)) continue;
    readings.push_back(reading(typed, text, policy));
  }
  sort_list(readings, is_better);
  return readings;
}

Reading Homophones::reading(std::string_view typed, std::string_view text, const Policy& policy) const {
  const Difference difference = difference_of(typed, text);
  const double total = queries_.total_of(text);
  const double typed_total = queries_.total_of(typed);
  const double unknown = policy.corrected_unknown_count;
  const bool known = typed_total > 0.0;
  Reading found{std::string(text)};
  found.kind = ReadingKind::corrected;
  found.log_probability = -difference.characters * policy.corrected_homophone_cost;
  found.edits = difference.characters;
  found.gain = std::log(std::max(total, unknown)) - std::log(known ? typed_total : unknown);
  found.word_gain = found.gain;
  found.known = known ? 1.0 : 0.0;
  found.known_gain = known ? found.gain : 0.0;
  found.begun = found.edits;
  found.after = difference.after;
  found.total = total;
  found.typed_total = typed_total;
  return found;
}

}  // namespace halfword
