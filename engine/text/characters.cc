#include "text/characters.h"

namespace halfword {
namespace {

void append_utf8(char32_t code, std::string& text) {
  const auto append = [&](char32_t byte) { text += static_cast<char>(static_cast<unsigned char>(byte)); };
  if (code < 0x80) {
    append(code);
  } else if (code < 0x800) {
    append(0xC0 | (code >> 6));
    append(0x80 | (code & 0x3F));
  } else if (code < 0x10000) {
    append(0xE0 | (code >> 12));
    append(0x80 | ((code >> 6) & 0x3F));
    append(0x80 | (code & 0x3F));
  } else {
    append(0xF0 | ((code >> 18) & 0x07));
    append(0x80 | ((code >> 12) & 0x3F));
    append(0x80 | ((code >> 6) & 0x3F));
    append(0x80 | (code & 0x3F));
  }
}

/// Whether there is a letter at `place` that is one of `size` from `first` on.
bool is_one_of(std::u32string_view letters, std::size_t place, char32_t first, char32_t size) {
  return place < letters.size() && letters[place] >= first && letters[place] < first + size;
}

}  // namespace

std::size_t width_of(std::string_view text) {
  std::size_t width = 0;
  for (const char byte : text) {
    if (!continues(byte)) width += static_cast<unsigned char>(byte) >= 0xE0 ? 2 : 1;
  }
  return width;
}

std::string_view first_character(std::string_view text) {
  std::size_t length = 1;
  while (length < text.size() && continues(text[length])) ++length;
  return text.substr(0, length);
}

char32_t code_of(std::string_view character) {
  const auto lead = static_cast<unsigned char>(character.front());
  if (character.size() == 1) return lead;
  char32_t code = lead & (0x7FU >> character.size());
  for (const char byte : character.substr(1)) code = (code << 6) | (static_cast<unsigned char>(byte) & 0x3FU);
  return code;
}

std::u32string spelled(std::string_view text) {
  using namespace hangul;
  std::u32string letters;
  letters.reserve(text.size());
  for (std::size_t place = 0; place < text.size();) {
    const std::string_view character = first_character(text.substr(place));
    place += character.size();
    const char32_t code = code_of(character);
    if (code < first_syllable || code > last_syllable) {
      letters += code;
      continue;
    }
    const char32_t number = code - first_syllable;
    letters += first_lead + number / (tails * vowels);
    letters += first_vowel + number / tails % vowels;
    if (number % tails > 0) letters += first_tail + number % tails - 1;
  }
  return letters;
}

std::string unspelled(std::u32string_view letters) {
  using namespace hangul;
  std::string text;
  text.reserve(letters.size());
  for (std::size_t place = 0; place < letters.size();) {
    if (!is_one_of(letters, place, first_lead, leads) || !is_one_of(letters, place + 1, first_vowel, vowels)) {
      append_utf8(letters[place++], text);
      continue;
    }
    char32_t number = ((letters[place] - first_lead) * vowels + letters[place + 1] - first_vowel) * tails;
    place += 2;
    if (is_one_of(letters, place, first_tail, tails - 1)) number += letters[place++] - first_tail + 1;
    append_utf8(first_syllable + number, text);
  }
  return text;
}

}  // namespace halfword
