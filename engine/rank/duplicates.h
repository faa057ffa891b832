#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "sources/proposals.h"

namespace halfword {

/// Make one of proposals that differ in accents or other letters that people do not tell apart: the one that most
/// people typed takes the probability of the others, whose scores become no number. Who types accents means them: then
/// a known query that goes on from `typed` as it is comes first. What differs so from `typed` itself, and was typed
/// less often, is no suggestion. Signs of ASCII alone make no difference that is looked at here.
void merge_spellings(std::string_view typed, double typed_count, const std::vector<Proposal>& proposals,
                     std::vector<double>& scores);

/// A text without what different people write differently: accents and capitals (its key), spaces, ASCII punctuation,
/// and the plural of a word.
/// Two texts with the same plain form are near-duplicates, such as `dvd player`, `dvd-player` and `dvd players`,
/// `watch battery` and `watches batteries`, or `crème brûlée` and `creme brulee`.
std::string plain_form(std::string_view text);

/// A text whose last word has lost the ending of a plural, in the ways in which it may; none if it has no such ending.
std::vector<std::string> singular_forms(std::string_view text);

/// A text without the last letter, and the last two letters, of its last word, of which so many bytes must be left.
std::vector<std::string> without_endings(std::string_view text, double fewest);

/// The texts with one of the words before the last in the other number: `courses psychology` for `course psychology`.
std::vector<std::string> in_other_number(std::string_view text);

/// Which texts were shown already, but for near-duplicates.
class Shown {
 public:
  /// Remember a text and how often it was typed; how often the most frequent of its near-duplicates was typed that were
  /// remembered before, if there are any.
  std::optional<double> add(std::string_view text, double count);

 private:
  std::unordered_map<std::string, double> often_;
};

}  // namespace halfword
