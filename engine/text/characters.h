#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace halfword {

/// Whether a byte of UTF-8 is not the first one of its character.
inline bool continues(char byte) { return (static_cast<unsigned char>(byte) & 0xC0) == 0x80; }

/// How much a text says: its characters, where those of three bytes and more count twice. Most of these stand for a
/// syllable or a word.
std::size_t width_of(std::string_view text);

/// The bytes of the first character of a text that is not empty.
std::string_view first_character(std::string_view text);

/// The code point of a character of valid UTF-8; what is not valid gives some other number.
char32_t code_of(std::string_view character);

/// A text letter by letter, as it is typed: its code points, but each Hangul syllable as its two or three letters.
std::u32string spelled(std::string_view text);

/// The text that was spelled so.
std::string unspelled(std::u32string_view letters);

// Hangul syllables are numbered by their letters.
namespace hangul {
constexpr char32_t first_syllable = 0xAC00;
constexpr char32_t last_syllable = 0xD7A3;
constexpr char32_t first_lead = 0x1100;
constexpr char32_t first_vowel = 0x1161;
constexpr char32_t first_tail = 0x11A8;
constexpr char32_t last_jamo = 0x11FF;
constexpr char32_t leads = 19;
constexpr char32_t vowels = 21;
constexpr char32_t tails = 28;  // of a lead and a vowel, counting that there is none
}  // namespace hangul

}  // namespace halfword
