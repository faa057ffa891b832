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

/// The plain forms of the words of a text, whatever their order, each with a space behind it.
std::string unordered_form(std::string_view text);

/// Known queries, and how often people typed each of their forms.
class KnownForms {
 public:
  /// Remember a query and how often it was typed; its text must stay where it is.
  void add(std::string_view text, double count);

  bool empty() const { return texts_.empty(); }

  /// How often the most frequent query was typed that has the words of a text, in whatever order; 0: there is none.
  double most_with_words_of(std::string_view text) const;

  /// The same of a query that differs in spaces and hyphens alone.
  double most_with_letters_of(std::string_view text) const;

  /// Whether a query begins with the words of a text and has more.
  bool go_on_from(std::string_view text) const;

 private:
  std::vector<std::string_view> texts_;
  std::unordered_map<std::string, double> by_words_;
  std::unordered_map<std::string, double> by_letters_;
};

/// Which texts were shown already, but for near-duplicates.
class Shown {
 public:
  /// Remember a form of a text and how often the text was typed; how often the most frequent of the texts with this
  /// form was typed that were remembered before, if there are any.
  std::optional<double> add(std::string form, double count);

  /// Remember a text without its spaces; whether one was remembered before that differs in spaces or hyphens alone.
  bool add_unspaced(std::string_view text);

 private:
  std::unordered_map<std::string, double> often_;
  std::unordered_set<std::string> unspaced_;
};

}  // namespace halfword
