#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "sources/source.h"
#include "store/model_file.h"

namespace halfword {

/// Which words were typed together, in whatever order and however far apart: what a memory of neighbours cannot know.
///
/// Arrays (`companions.py` explains them): the words, sorted; of each its companions, sorted, and in how many queries
/// they stood together. They are read where they lie in the mapped file and checked once, when it is loaded. Then it is
/// noted where the companions of each word begin, and of a word with many every 64th.
class Companions : public Source {
 public:
  explicit Companions(const ModelFile& file);

  /// Propose how a query that has come to the reading may end with the word that was begun, or with one more after a
  /// space, by the words before it alone. Only where few queries go on from the reading.
  void propose(const Question& question, Proposals& proposals) const override;

  /// Whether words of a text do not go together, from the first one on that is not typed whole, its first `matched`
  /// bytes being typed: two neighbours were never typed side by side in this order, or one that does not join others
  /// never together with one of the last such words before; or it is there twice. A word that seldom ends a query joins
  /// others.
  bool is_apart(std::string_view text, std::size_t matched, const Policy& policy) const;

  /// Whether a word of a text that is not typed whole, and does not join others, is there twice.
  bool repeats_word(std::string_view text, std::size_t matched, const Policy& policy) const;

  /// Whether a text of several words stops after one that joins others.
  bool is_unfinished(std::string_view text, const Policy& policy) const;

 private:
  struct Range {
    std::size_t first;
    std::size_t last;
  };

  /// A word, and how likely it is to end the query.
  struct Ending {
    std::size_t index;
    double worth;

    /// Whether it comes before another one: likelier, and of equals the first of all words.
    bool operator<(const Ending& other) const {
      return worth != other.worth ? worth > other.worth : index < other.index;
    }
  };

  /// A place in the lists of companions.
  struct Cursor {
    std::uint32_t companion = 0;  // the number of the last one before it in the list of its word, or 0
    std::uint32_t at = 0;         // in `companion_`
    std::uint32_t together = 0;   // in `together_`
  };

  /// How two words were typed.
  enum class Bond { apart, together, side_by_side };

  struct Word {
    std::uint32_t typed;   // queries that hold it
    std::uint32_t ended;   // queries that end with it
    std::uint32_t number;  // companions
    std::uint32_t met;     // how often it met any of them
    std::uint32_t first;   // of its cursors
    std::uint32_t listed;  // companions of all words before it
  };

  std::size_t size() const { return words_.size(); }
  void list_companions(Word& word, Cursor& cursor);
  template <typename Visit>
  void visit_companions(std::size_t index, Range range, const Visit& visit) const;
  std::string_view word(std::size_t index) const;
  std::size_t bound(std::string_view part, bool beyond) const;
  Range beginning_with(std::string_view part) const;
  std::size_t cursor_before(const Word& word, std::size_t first) const;
  std::size_t number_before(const Word& word, std::size_t bound) const;
  std::size_t find(std::string_view word) const;
  Bond bond(std::size_t one, std::size_t other) const;
  double ending(std::size_t index, const Policy& policy) const;
  bool joins(std::size_t index, const Policy& policy) const;
  std::vector<std::size_t> known_words(std::string_view text, Range range, const Policy& policy) const;
  void weigh(std::span<const std::size_t> context, Range range, double half_trust) const;
  std::vector<Ending> likeliest(std::size_t shortest, double left, double total, const Policy& policy) const;

  std::span<const char> text_;
  std::vector<std::uint32_t> begin_;         // of each word's text, and the end of the last
  std::span<const std::uint8_t> companion_;  // of one word after the other
  std::span<const std::uint8_t> together_;   // in so many queries
  std::span<const std::uint8_t> after_;      // a bit for each companion: it was typed right after the word
  bool knows_after_;                         // files of earlier versions do not tell
  std::vector<Word> words_;
  std::vector<Cursor> cursors_;              // of the first companion of each word, and every 64th
  std::vector<std::uint64_t> typed_before_;  // the sum over all words before one
};

}  // namespace halfword
