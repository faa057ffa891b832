#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace halfword {

/// Take the ending of a plural off. Words in -ie and -che, which only look like one, lose it too, so that they and
/// their plurals stay the same.
void make_singular(std::string& word);

/// A text whose last word has lost the ending of a plural, in the ways in which it may; none if it has no such ending.
std::vector<std::string> singular_forms(std::string_view text);

/// A text with its last word in the plural, where that is written otherwise than with one letter more: `nappies`.
std::optional<std::string> changed_plural(std::string_view text);

/// A text without the last letter, the last two, and so on up to `most`, of its last word, of which so many letters
/// must be left. Digits are no ending.
std::vector<std::string> without_endings(std::string_view text, double fewest, std::size_t most);

/// The texts with one of the words before the last in the other number: `courses psychology` for `course psychology`.
std::vector<std::string> in_other_number(std::string_view text);

/// A text with all words before the last in the singular: `vestido negros` for `vestidos negros`.
std::string singular_before(std::string_view text);

}  // namespace halfword
