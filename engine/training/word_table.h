#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "store/sorted_texts.h"
#include "store/word_tree.h"
#include "training/query_table.h"

namespace halfword {

/// Numbers words in the order in which they are first seen. It keeps views of them, not the words.
class WordNumbers {
 public:
  WordNumbers() : slots_(1024, free_slot) {}

  /// The number of a word, which gets the next one if it is new.
  std::uint32_t number_of(std::string_view word);

  /// The number of a word, or `unknown`.
  std::uint32_t find(std::string_view word) const { return slots_[slot_of(word)]; }

  const std::vector<std::string_view>& words() const { return words_; }

  static constexpr std::uint32_t unknown = UINT32_MAX;

 private:
  static constexpr std::uint32_t free_slot = unknown;

  std::size_t slot_of(std::string_view word) const;
  void grow();

  std::vector<std::uint32_t> slots_;  // a power of two of them
  std::vector<std::string_view> words_;
};

/// Call `visit` with what stands between the spaces of a query.
template <typename Visit>
void visit_spaced(std::string_view query, const Visit& visit) {
  while (!query.empty()) {
    const std::size_t end = query.find(' ');
    if (end != 0) visit(query.substr(0, end));
    if (end == std::string_view::npos) return;
    query.remove_prefix(end + 1);
  }
}

/// The words of a table, sorted by their bytes, and what is counted of each.
struct WordTable {
  OwnTexts words;
  std::vector<std::uint64_t> occurrences;  // how often it was typed
  std::vector<std::uint64_t> typed;        // how often queries were typed that hold it
  std::vector<std::uint64_t> queries;      // how many queries hold it
  std::vector<std::uint64_t> ended;        // how many queries end with it
};
WordTable count_words(const QueryTable& table);

/// The characters of a table by how often they were typed, sorted.
std::vector<std::pair<std::string, std::uint64_t>> count_characters(const QueryTable& table);

/// A list of words as arrays of a model file, and their filter.
struct WordList {
  SortedTextArrays list;
  std::size_t size = 0;
  std::vector<std::uint64_t> filter;      // of the words of the table
  std::vector<std::uint64_t> background;  // of the others
};

/// What `known_words.py` makes of the words of a table whose mark is set (characters of scripts without spaces are
/// words by themselves), of some that count as typed too, and of those of a background.
WordList list_words(const TextColumn& words, std::span<const std::uint8_t> marked, const std::vector<std::string>& also,
                    std::vector<std::string> background);

/// The places of queries of a table that hold a marked word, or words of at least `most_single` single characters
/// together. `words` are all words of the table, sorted; `singles` tells how many single characters each is made of.
std::vector<std::uint32_t> find_marked(const QueryTable& table, const TextColumn& words,
                                       std::span<const std::uint8_t> marked, std::span<const std::uint8_t> singles,
                                       std::size_t most_single);

/// The tree of the words whose count is not 0, and of more words, which count once.
WordTreeArrays tree_of_words(const TextColumn& words, std::span<const std::uint32_t> count,
                             const std::vector<std::string>& more);

}  // namespace halfword
