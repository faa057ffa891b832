#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "completion.h"

namespace halfword {

/// log(e^a + e^b).
double log_add(double a, double b);

/// The completions a search has found so far, each escaped text once, with the scores of all piece sequences that spell
/// it.
class Finished {
 public:
  /// Forget everything; the best `count` are wanted.
  void reset(std::size_t count);

  void add(std::string_view text, double score);

  /// How many texts there are.
  std::size_t size() const { return entries_.size(); }

  /// Log of the probability that they have together.
  double log_probability() const;

  /// What a further text must score to be among the best; anything will do while there are too few.
  double bound() const { return bound_; }

  /// The `count` best texts with their scores less `mass`, those at or above `floor` alone: with `merge` the scores of
  /// a text's sequences are added up, else the best one counts.
  std::vector<Completion> rank(std::size_t count, bool merge, double mass, double floor) const;

 private:
  struct Entry {
    std::size_t begin;  // of its text in `texts_`
    std::size_t size;
    double best;
    double sum;
  };

  std::string_view text_of(const Entry& entry) const {
    return std::string_view(texts_).substr(entry.begin, entry.size);
  }
  Entry* find(std::string_view text, std::size_t hash);

  void raise(double from, double score);

  std::size_t count_ = 0;
  double bound_ = -1.0 / 0.0;
  std::string texts_;  // of all entries, one after the other
  std::vector<Entry> entries_;
  std::vector<std::size_t> hashes_;  // of their texts, for there may be thousands
  std::vector<double> best_;         // the best score of each of the best texts, the lowest first
};

}  // namespace halfword
