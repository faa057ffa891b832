#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "store/live_state.h"
#include "store/model_file.h"
#include "store/sorted_texts.h"
#include "store/word_counts.h"
#include "store/word_filter.h"

namespace halfword {

/// How well the words of a text are known.
struct WordFacts {
  std::uint32_t unseen = 0;    // that occur in no training query
  std::uint32_t invented = 0;  // nor in a query of the background
  double least_typed = 0.0;    // how often the word was typed that was typed least, as in `WordCount`
  double last_ended = 0.0;     // how many queries end with the last word, as in `WordCount`
};

/// The words of the training queries and of the background: two filters for a quick look, and the whole list.
class Lexicon {
 public:
  explicit Lexicon(const ModelFile& file);

  /// How well the words of `text` are known by the filters, which take one unknown word in 1,400 for known.
  /// Words of `live` are known.
  WordFacts facts_of(std::string_view text, const LiveFlags* live = nullptr) const;

  /// Whether the list, or `live`, holds every word of `text`.
  bool knows_all(std::string_view text, const LiveFlags* live = nullptr) const;

  /// Whether what stands between spaces in `text` is known as a whole where a script is written without them.
  bool knows_unspaced(std::string_view text) const;

  /// Whether a word is one of the log, by the list if there is one.
  bool holds(std::string_view word) const;

  /// Whether there is a list: files of earlier versions have none.
  bool is_listed() const { return list_.has_value(); }

 private:
  WordFilter typed_;
  std::optional<WordFilter> background_;
  std::optional<SortedTexts> list_;
  std::optional<WordCounts> counts_;
};

}  // namespace halfword
