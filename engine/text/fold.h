#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace halfword {

/// What a hyphen becomes in a key.
enum class Hyphen { nothing, space };

/// What an umlaut becomes in a key: `mull` or `muell`.
enum class Umlaut { one_letter, two_letters };

/// The key of a normalised text, which is the same for spellings that people do not tell apart; `core/folding.py` has
/// the rules.
std::string fold(std::string_view text, Hyphen hyphen = Hyphen::nothing, Umlaut umlaut = Umlaut::one_letter);

/// The keys of a text: more than one only if it has a hyphen or an umlaut; none if it has no letter.
std::vector<std::string> fold_keys(std::string_view text);

/// How many bytes of `text` stand for `key`; nothing if the text does not begin with it, not even without its spaces.
std::optional<std::size_t> covered_by(std::string_view text, std::string_view key);

/// Whether a text is surely its own only key: ASCII without apostrophes and hyphens. Much faster than folding it.
bool is_plain(std::string_view text);

/// Whether a character is an apostrophe or a hyphen, which join the parts of a word.
bool is_sign(std::string_view character);

/// Whether a text ends with a Hangul syllable or letter, which may be half typed.
bool ends_in_hangul(std::string_view text);

}  // namespace halfword
