#pragma once

#include <cstddef>
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
  double log_count;   // logarithm of how often it was typed, or all words that begin so

  double score() const { return log_count - cost; }
};

/// What to look for.
struct NearOptions {
  bool whole;              // a whole word; otherwise the beginning of words
  std::size_t most_edits;  // mistakes
  std::size_t keep;        // the best of them
  double least_score;      // of what is looked for
  double edit_cost;        // nats of each mistake beyond what the channel says of it
};

/// Looks for the words that a typed one may stand for: those with the highest score, as letters may be mistyped.
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
    std::size_t read;    // typed letters
    std::size_t before;  // class of the letter that was meant before
    double cost;
    std::size_t edits;
  };

  void walk(const Place& place);
  void finish(Place place);
  void make_mistakes(const Place& place);
  void step_to(WordTree::Node node, const Place& place, std::size_t read, double cost, std::size_t edits);
  void add(const Place& place);

  /// Whether a word that goes through a node may be among the best.
  bool is_likely(WordTree::Node node, double cost) const { return words_.log_total(node) - cost >= threshold_; }

  const WordTree& words_;
  const Channel& channel_;
  std::size_t& budget_;
  std::u32string_view typed_;
  NearOptions options_{};
  std::u32string letters_;       // of the place that is looked at
  double threshold_ = 0.0;       // what a further word must score to be kept
  std::vector<NearWord> found_;  // the best first
};

}  // namespace halfword
