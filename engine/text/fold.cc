#include "text/fold.h"

#include <algorithm>

#include "text/characters.h"
#include "text/escape.h"
#include "text/fold_table.h"

namespace halfword {
namespace {

using namespace hangul;

bool is_hyphen(char32_t code) {
  return code == '-' || (code >= 0x2010 && code <= 0x2015) || code == 0x2212 || code == 0x5BE;
}

bool is_hangul(char32_t code) {
  return (code >= first_syllable && code <= last_syllable) || (code >= first_lead && code <= last_jamo);
}

/// What a character is in the key of a text.
struct FoldedCharacter {
  char32_t character;
  std::string_view key;
};

/// The table, as it can be searched.
std::vector<FoldedCharacter> read_table() {
  std::vector<FoldedCharacter> table;
  table.reserve(fold_table_size);
  char32_t character = 0;
  for (std::string_view rest = fold_table; !rest.empty();) {
    char32_t distance = 0;
    for (bool last = false; !last; rest.remove_prefix(1)) {
      const auto digit = static_cast<unsigned char>(rest.front());
      distance = distance << 7 | (digit & 127U);
      last = digit < 128;
    }
    const auto size = static_cast<std::size_t>(rest.front());
    character += distance;
    table.push_back({character, rest.substr(1, size)});
    rest.remove_prefix(size + 1);
  }
  return table;
}

/// Append what the table has for a character, or the character itself.
void append_folded(char32_t code, std::string_view character, std::string& key) {
  static const std::vector<FoldedCharacter> table = read_table();
  const auto is_before = [](const FoldedCharacter& entry, char32_t wanted) { return entry.character < wanted; };
  const auto found = std::lower_bound(table.begin(), table.end(), code, is_before);
  key += found != table.end() && found->character == code ? found->key : character;
}

bool is_umlaut(char32_t code) { return code == U'\u00e4' || code == U'\u00f6' || code == U'\u00fc'; }

void append_character(std::string_view character, Hyphen hyphen, Umlaut umlaut, std::string& key) {
  const char32_t code = code_of(character);
  if (code >= 'a' && code <= 'z') {
    key += character;  // nearly always, so the table is not asked
  } else if (is_hyphen(code)) {
    if (hyphen == Hyphen::space) key += ' ';
  } else if (code >= first_syllable && code <= last_syllable) {
    const char32_t number = code - first_syllable;
    append_folded(first_lead + number / (tails * vowels), {}, key);
    append_folded(first_vowel + number / tails % vowels, {}, key);
    if (number % tails > 0) append_folded(first_tail + number % tails - 1, {}, key);
  } else {
    append_folded(code, character, key);
    if (umlaut == Umlaut::two_letters && is_umlaut(code)) key += 'e';
  }
}

std::optional<std::size_t> covered_by(std::string_view text, std::string_view key, Hyphen hyphen, Umlaut umlaut,
                                      bool spaces = true) {
  std::string folded;
  std::size_t place = 0;
  while (place < text.size() && folded.size() < key.size()) {
    const std::string_view character = first_character(text.substr(place));
    if (spaces || character != " ") append_character(character, hyphen, umlaut, folded);
    place += character.size();
  }
  return folded.starts_with(key) ? std::optional(place) : std::nullopt;
}

}  // namespace

std::string fold(std::string_view text, Hyphen hyphen, Umlaut umlaut) {
  std::string key;
  key.reserve(text.size());
  for (std::size_t place = 0; place < text.size();) {
    const std::string_view character = first_character(text.substr(place));
    append_character(character, hyphen, umlaut, key);
    place += character.size();
  }
  return key;
}

std::vector<std::string> fold_keys(std::string_view text) {
  std::vector<std::string> keys;
  const auto add = [&](Hyphen hyphen, Umlaut umlaut) {
    std::string key = fold(text, hyphen, umlaut);
    const bool has_letter = key.find_first_not_of(' ') != std::string::npos;
    if (has_letter && std::find(keys.begin(), keys.end(), key) == keys.end()) keys.push_back(std::move(key));
  };
  if (text.empty()) return keys;
  // The letter that a hyphen at the end would join is not there yet.
  const bool ends_with_hyphen = is_hyphen(code_of(text.substr(previous_character(text, text.size()))));
  for (const Umlaut umlaut : {Umlaut::one_letter, Umlaut::two_letters}) {
    if (!ends_with_hyphen) add(Hyphen::nothing, umlaut);
    add(Hyphen::space, umlaut);
  }
  return keys;
}

std::optional<std::size_t> covered_by(std::string_view text, std::string_view key) {
  std::optional<std::size_t> covered;
  for (const Umlaut umlaut : {Umlaut::one_letter, Umlaut::two_letters}) {
    if (!covered) covered = covered_by(text, key, Hyphen::nothing, umlaut);
    if (!covered) covered = covered_by(text, key, Hyphen::space, umlaut);
  }
  return covered ? covered : covered_by(text, key, Hyphen::nothing, Umlaut::one_letter, false);
}

bool is_plain(std::string_view text) {
  return std::all_of(text.begin(), text.end(), [](char byte) {
    return static_cast<unsigned char>(byte) < 128 && byte != '-' && byte != '\'' && byte != '`';
  });
}

bool is_sign(std::string_view character) {
  constexpr std::u32string_view apostrophes =
      U"'`\u00b4\u02b9\u02bb\u02bc\u02bd\u02c8\u055a\u05f3\u2018\u2019\u201b\u2032";
  const char32_t code = code_of(character);
  return is_hyphen(code) || apostrophes.find(code) != std::u32string_view::npos;
}

bool ends_in_hangul(std::string_view text) {
  return !text.empty() && is_hangul(code_of(text.substr(previous_character(text, text.size()))));
}

}  // namespace halfword
