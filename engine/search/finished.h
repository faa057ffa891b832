#pragma once

#include <string>
#include <vector>

#include "completion.h"

namespace halfword {

/// log(e^a + e^b).
double log_add(double a, double b);

/// The completions a search has found so far, each escaped text once, with the scores of all piece sequences that spell
/// it.
class Finished {
 public:
  /// The best `count` are wanted.
  explicit Finished(std::size_t count) : count_(count) {}

  void add(std::string text, double score);

  /// What a further text must score to be among the best; anything will do while there are too few.
  double bound() const { return bound_; }

  /// The `count` best texts with their scores less `mass`, those at or above `floor` alone: with `merge` the scores of
  /// a text's sequences are added up, else the best one counts.
  std::vector<Completion> rank(std::size_t count, bool merge, double mass, double floor) const;

 private:
  struct Entry {
    std::string text;
    double best;
    double sum;
  };

  Entry& entry_at(std::vector<std::size_t>::const_iterator hash) {
    return entries_[static_cast<std::size_t>(hash - hashes_.begin())];
  }

  void raise(double from, double score);

  std::size_t count_;
  double bound_ = -1.0 / 0.0;
  std::vector<Entry> entries_;
  std::vector<std::size_t> hashes_;  // of their texts, for there may be thousands
  std::vector<double> best_;         // the best score of each of the best texts, the lowest first
};

}  // namespace halfword
