#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "rank/policy.h"
#include "readings/channel.h"
#include "readings/near_words.h"
#include "readings/reading.h"
#include "search/generation_cache.h"
#include "store/model_file.h"
#include "store/popular.h"
#include "store/word_tree.h"

namespace halfword {

/// What a mistyped text may stand for: other words of the log in place of some of its words, two words in place of one,
/// or one in place of two; the word that is being typed by its beginning. `search/reference_corrections.py` explains
/// how likely each is.
class Corrections {
 public:
  /// What the last `kept_words` whole words may stand for is kept for the next keystroke.
  Corrections(const ModelFile& file, const Popular& queries, std::size_t kept_words);

  /// The likeliest corrections of `typed`, the best first; none where it is likelier to be right.
  std::vector<Reading> readings_of(std::string_view typed, const Policy& policy) const;

 private:
  class Reader;
  struct Way;
  struct WordWays;

  const Popular& queries_;
  WordTree words_;
  std::optional<WordTree> others_;  // the words of other people, who typed the background
  Channel channel_;
  mutable GenerationCache<WordWays> kept_ways_;  // by words; those of a word are the same at every keystroke
};

}  // namespace halfword
