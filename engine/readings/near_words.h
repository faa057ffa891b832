#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "readings/channel.h"
#include "store/word_tree.h"

namespace halfword {

/// A word, or the beginning of words, that a typed one may stand for.
struct NearWord {
  WordTree::Node node;
  std::u32string letters;
  double cost;        // −log p(typed | this), in nats
  std::size_t edits;  // mistakes: letters left out, added, replaced, or two swapped
  std::size_t after;  // letters typed after the last mistake
  double log_count;   // logarithm of how often it was typed, or all words that begin so

  double score() const { return log_count - cost; }
};

/// What to look for.
struct NearOptions {
  bool whole;              // a whole word; otherwise the beginning of words
  std::size_t most_edits;  // mistakes
  std::size_t keep;        // the best of them
  double least_score;      // of what is looked for
  double band;             // nats by which a further one may score less than the best
  double edit_cost;        // nats of each mistake beyond what the channel says of it
};

/// Looks for the words that a typed one may stand for: those with the highest score, as letters may be mistyped.
///
/// It follows the tree from the most hopeful place on. A place can lead to no word that was typed more often than all
/// words below it, and costs only grow; so a place is left out where that cannot be among the best.
class NearWords {
 public:
  /// `budget` is the number of steps that may still be taken; it is counted down, and where it ends the search does.
  NearWords(const WordTree& words, const Channel& channel, std::size_t& budget)
      : words_(words), channel_(channel), budget_(budget) {}

  /// The near words of `typed`, itself left out; the best first.
  std::vector<NearWord> find(std::u32string_view typed, const NearOptions& options);

 private:
  /// How far the typed letters are read, and where that leads in the tree.
  struct Place {
    WordTree::Node node;
    std::uint32_t from;     // the number of the place before it
    std::uint8_t read;      // typed letters
    std::uint8_t mistaken;  // typed letters up to the last mistake
    std::uint8_t edits;
    std::uint8_t before;  // class of the letter that was meant before
    double cost;
  };

  /// A place to go on from.
  struct Waiting {
    double hope;  // the higher, the sooner
    std::uint32_t place;

    bool operator<(const Waiting& other) const { return hope != other.hope ? hope < other.hope : place > other.place; }
  };

  void go_on(std::uint32_t place);
  void make_mistakes(std::uint32_t place);
  void wait(const Place& place);
  void finish(Place place);
  void add(const Place& begun, const Place& place, double log_count);
  std::uint32_t note(const Place& place);
  Place step(const Place& place, std::uint32_t from, WordTree::Node node, std::size_t read, double cost) const;
  std::u32string letters_to(Place place) const;

  const WordTree& words_;
  const Channel& channel_;
  std::size_t& budget_;
  std::u32string_view typed_;
  std::vector<std::size_t> typed_places_;  // of its letters in the alphabet of the tree
  NearOptions options_{};
  double least_ = 0.0;  // what a word must score
  std::vector<Place> places_;
  std::vector<Waiting> waiting_;  // a heap
  std::vector<NearWord> found_;   // the best first
};

}  // namespace halfword
