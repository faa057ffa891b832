#pragma once

#include <string>
#include <string_view>
#include <unordered_set>
#include <vector>

#include "sources/proposals.h"

namespace halfword {

/// Make one of proposals that differ in accents or other letters that people do not tell apart: the one that most
/// people typed takes the probability of the others, whose scores become no number. Who types accents means them: then
/// a known query that goes on from `typed` as it is comes first. Signs of ASCII alone make no difference that is looked
/// at here.
void merge_spellings(std::string_view typed, const std::vector<Proposal>& proposals, std::vector<double>& scores);

/// A text without what different people write differently: accents and capitals (its key), spaces, ASCII punctuation,
/// and the plural of a word.
/// Two texts with the same plain form are near-duplicates, such as `dvd player`, `dvd-player` and `dvd players`,
/// `watch battery` and `watches batteries`, or `crème brûlée` and `creme brulee`.
std::string plain_form(std::string_view text);

/// A text whose last word has lost the ending of a plural, in the ways in which it may; none if it has no such ending.
std::vector<std::string> singular_forms(std::string_view text);

/// The texts with one of the words before the last in the other number: `courses psychology` for `course psychology`.
std::vector<std::string> in_other_number(std::string_view text);

/// Which texts were shown already, but for near-duplicates.
class Shown {
 public:
  /// Remember a text; false if a near-duplicate of it was remembered before.
  bool add(std::string_view text) { return forms_.insert(plain_form(text)).second; }

 private:
  std::unordered_set<std::string> forms_;
};

}  // namespace halfword
