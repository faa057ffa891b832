#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
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

/// The plain form of a text, whatever the order of its words.
std::string unordered_form(std::string_view text);

/// Which texts were shown already, but for near-duplicates.
class Shown {
 public:
  /// Remember a text and how often it was typed; how often the most frequent of its near-duplicates was typed that were
  /// remembered before, if there are any.
  std::optional<double> add(std::string_view text, double count);

  /// Remember a text without its spaces; whether one was remembered before that differs in spaces or hyphens alone.
  bool add_unspaced(std::string_view text);

 private:
  std::unordered_map<std::string, double> often_;
  std::unordered_set<std::string> unspaced_;
};

}  // namespace halfword
