#pragma once

#include <algorithm>
#include <cstddef>
#include <string_view>

namespace halfword {

/// Whether the character whose first bytes are these belongs to a script that is written without spaces between words
/// (Thai, Lao, Burmese, Khmer; kana; Chinese characters). `core/words.py` has the same ranges.
inline bool written_without_spaces(unsigned char first, unsigned char second, unsigned char third) {
  const unsigned int start = first * 65536U + second * 256U + third;  // the first three bytes of its UTF-8
  const auto between = [start](unsigned int low, unsigned int high) { return low <= start && start <= high; };
  return between(0xE0B880, 0xE0BBBF) || between(0xE18080, 0xE1829F) || between(0xE19E80, 0xE19FBF) ||
         between(0xE38180, 0xE383BF) || between(0xE39080, 0xE4B6BF) || between(0xE4B880, 0xE9BFBF) ||
         between(0xEFA480, 0xEFABBF) || between(0xF0A080, 0xF0BFBF);
}

/// Whether a text holds such a character.
inline bool holds_unspaced(std::string_view text) {
  for (std::size_t place = 0; place + 2 < text.size(); ++place) {
    const auto at = [&](std::size_t step) { return static_cast<unsigned char>(text[place + step]); };
    if (at(0) >= 0xE0 && written_without_spaces(at(0), at(1), at(2))) return true;
  }
  return false;
}

/// Call `visit` with each word of a text: what stands between spaces, but every character of a script without spaces is
/// a word by itself.
template <typename Visit>
void visit_words(std::string_view text, const Visit& visit) {
  std::size_t first = 0;
  const auto close = [&](std::size_t end) {
    if (end > first) visit(text.substr(first, end - first));
  };
  for (std::size_t place = 0; place < text.size();) {
    const auto byte = static_cast<unsigned char>(text[place]);
    if (byte == ' ') {
      close(place);
      first = ++place;
      continue;
    }
    const std::size_t length = byte < 0xE0 ? 1 : byte < 0xF0 ? 3 : 4;
    if (length == 1 || place + length > text.size()) {
      ++place;
      continue;
    }
    const auto at = [&](std::size_t step) { return static_cast<unsigned char>(text[place + step]); };
    if (written_without_spaces(byte, at(1), at(2))) {
      close(place);
      visit(text.substr(place, length));
      first = place + length;
    }
    place += length;
  }
  close(text.size());
}

}  // namespace halfword
