#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "rank/policy.h"
#include "readings/reading.h"
#include "store/model_file.h"
#include "store/popular.h"
#include "store/word_filter.h"

namespace halfword {

/// Whether a text lacks accents, or signs such as apostrophes, that were typed.
bool lacks_marks(std::string_view text, std::string_view typed);

/// log p(typed | text) where both have the same key as far as was typed: in Hangul, whose last syllable may be half
/// typed, or in any other script, whose accents and signs were left out.
double log_folded(std::string_view text, std::string_view typed, const Policy& policy);

/// How words are written most (`training/folding.py`): the readings of a typed text that has the same letters.
///
/// A popularity index, `words.folded.*`, over a word's key, a zero byte, and the word.
class WrittenForms {
 public:
  explicit WrittenForms(const ModelFile& file);

  /// The typed text with its words as they are written most, the last one by its beginning; without the text as typed.
  std::vector<Reading> readings_of(std::string_view typed, const Policy& policy) const;

 private:
  std::string written(std::string_view word) const;
  std::vector<std::string> beginnings(std::string_view part, std::size_t most) const;
  std::string form_at(std::size_t position) const;

  std::optional<Popular> forms_;
  WordFilter words_;
};

}  // namespace halfword
