#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace halfword {

/// A query as SentencePiece reads it: with a space mark before it, and one in place of each space.
std::string escape(std::string_view query);

/// The query that an escaped text spells.
std::string unescape(std::string_view escaped);

/// Where the character before `place` begins.
std::size_t previous_character(std::string_view text, std::size_t place);

/// Whether the text is valid UTF-8; byte pieces can spell text that is not.
bool is_utf8(std::string_view text);

}  // namespace halfword
