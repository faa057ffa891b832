#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace halfword {

/// A query as SentencePiece sees it: a space mark before it and in place of each space.
std::string escape(std::string_view query);

/// The query that an escaped text spells.
std::string unescape(std::string_view escaped);

/// Where the character before `place` begins.
std::size_t previous_character(std::string_view text, std::size_t place);

/// Whether the text is whole characters; byte pieces can spell others.
bool is_utf8(std::string_view text);

}  // namespace halfword
