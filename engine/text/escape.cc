#include "text/escape.h"

#include <algorithm>

#include "lm/pieces.h"
#include "text/characters.h"

namespace halfword {
namespace {

/// The number of bytes of a character that begins with `byte`; 0 if no character begins with it.
std::size_t length_of(char byte) {
  const auto value = static_cast<unsigned char>(byte);
  if (value < 0x80) return 1;
  if (value < 0xC2 || value > 0xF4) return 0;
  return value < 0xE0 ? 2 : value < 0xF0 ? 3 : 4;
}

/// Whether the second byte makes the character overlong, a surrogate, or beyond the last code point of Unicode.
bool is_forbidden(unsigned char first, unsigned char second) {
  return (first == 0xE0 && second < 0xA0) || (first == 0xED && second > 0x9F) || (first == 0xF0 && second < 0x90) ||
         (first == 0xF4 && second > 0x8F);
}

}  // namespace

std::string escape(std::string_view query) {
  std::string escaped(space_mark);
  escaped.reserve(query.size() + 8 * space_mark.size());
  for (const char byte : query) {
    if (byte == ' ') {
      escaped += space_mark;
    } else {
      escaped += byte;
    }
  }
  return escaped;
}

std::string unescape(std::string_view escaped) {
  if (escaped.starts_with(space_mark)) escaped.remove_prefix(space_mark.size());
  std::string query;
  query.reserve(escaped.size());
  while (true) {
    const std::size_t space = std::min(escaped.find(space_mark), escaped.size());
    query += escaped.substr(0, space);
    if (space == escaped.size()) return query;
    query += ' ';
    escaped.remove_prefix(space + space_mark.size());
  }
}

std::size_t previous_character(std::string_view text, std::size_t place) {
  do {
    --place;
  } while (place > 0 && continues(text[place]));
  return place;
}

bool is_utf8(std::string_view text) {
  for (std::size_t place = 0; place < text.size();) {
    const std::size_t length = length_of(text[place]);
    if (length == 0 || length > text.size() - place) return false;
    for (std::size_t i = 1; i < length; ++i) {
      if (!continues(text[place + i])) return false;
    }
    const auto first = static_cast<unsigned char>(text[place]);
    if (length > 2 && is_forbidden(first, static_cast<unsigned char>(text[place + 1]))) return false;
    place += length;
  }
  return true;
}

}  // namespace halfword
