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
  bool whole;          // a whole word; otherwise the beginning of words
  std::size_t keep;    // the best of them
  double least_score;  // of what is looked for
  double band;         // nats by which a further one may score less than the best
  double edit_cost;    // nats of each mistake beyond what the channel says of it
};

/// Looks for the words that a typed one may stand for: those with the highest score, as letters may be mistyped.
///
/// It reads the typed letters down the tree and makes a mistake at each place on the way, the last one first, from
/// which it reads on. A place can lead to no word that was typed more often than all words below it, and costs only
/// grow; so a place is left out where that cannot be among the best. Digits are taken as they are typed: another number
/// is another thing.
class NearWords {
 public:
  /// `budget` is the number of places at which mistakes may still be made; where it ends the search does.
  NearWords(const WordTree& words, const Channel& channel, std::size_t& budget)
      : words_(words), channel_(channel), budget_(budget) {}

  /// The near words of `typed` with one mistake, itself left out; the best first.
  const std::vector<NearWord>& find(std::u32string_view typed, const NearOptions& options);

  /// The near words of the same typed word with one or two mistakes.
  const std::vector<NearWord>& find_with_two();

 private:
  /// How far the typed letters are read, and where that leads in the tree.
  struct Place {
    WordTree::Node node;
    std::uint32_t read;    // typed letters
    std::uint32_t edits;   // mistakes on the way here
    std::uint32_t before;  // class of the letter that was meant before
    double cost;
  };

  void look_from(const Place& start);
  void make_mistakes(const Place& place);
  void replace_or_leave_out(const Place& place);
  void swap(const Place& place);
  void mistake(const Place& place, WordTree::Node node, std::size_t read, double cost);
  void finish(const Place& place, Place last);
  void add(NearWord near);

  /// The place in the alphabet of a typed letter; any past the last one.
  std::size_t place_at(std::size_t letter) const {
    return letter < typed_places_.size() ? typed_places_[letter] : WordTree::any;
  }

  bool is_digit(std::size_t letter) const { return typed_classes_[letter] == Channel::digits; }

  double score_below(const Place& place) const { return words_.log_total(place.node) - place.cost; }
  double first_letter(const Place& place) const {
    return place.before == Channel::beginning ? channel_.first_letter() : 0.0;
  }

  /// The cost of the mistakes that are still to be made at a place, but for what the channel says of them.
  double cost_to_come(std::size_t edits) const { return static_cast<double>(mistakes_ - edits) * options_.edit_cost; }

  const WordTree& words_;
  const Channel& channel_;
  std::size_t& budget_;
  std::u32string_view typed_;
  std::vector<std::size_t> typed_places_;     // of its letters in the alphabet of the tree
  std::vector<std::uint32_t> typed_classes_;  // of its letters, in the channel
  WordTree::Node typed_node_ = WordTree::none;
  NearOptions options_{};
  std::size_t mistakes_ = 1;     // so many are made, no fewer
  double least_ = 0.0;           // what a word must score
  std::u32string meant_;         // the letters on the way to where the search is
  std::vector<Place> way_;       // places at which a mistake is still to be made
  std::vector<NearWord> found_;  // the best first
};

}  // namespace halfword
