#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "store/model_file.h"

namespace halfword {

/// How often a word was typed, and how many queries end with it, each as 1 + its logarithm in tenths; 0: never.
struct WordCount {
  double typed = 0.0;
  double ended = 0.0;
};

/// A word and its counts; one that was never typed is not stored.
struct CountedWord {
  std::string_view word;
  std::uint64_t typed;
  std::uint64_t ended;
};

/// A hash table of counted words, as an array of a model file. A slot holds 16 bits of the word's hash, then both
/// counts in 8 bits each: 1 + 10 log(count), 0 for 0. A slot that was never typed is empty.
std::vector<std::uint32_t> build_word_counts(std::span<const CountedWord> words);

/// Reads such a table in place. Of words that it does not hold, one in some ten thousand is mistaken for another.
class WordCounts {
 public:
  WordCounts(const ModelFile& file, const std::string& name);

  /// The counts of a word; those of one that was typed once, and ends no query, if the table does not hold it.
  WordCount find(std::string_view word) const;

 private:
  std::span<const std::uint32_t> slots_;
};

}  // namespace halfword
