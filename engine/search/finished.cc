#include "search/finished.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <utility>

#include "sort.h"
#include "text/escape.h"

namespace halfword {

double log_add(double a, double b) {
  if (a < b) std::swap(a, b);
  return std::isinf(b) ? a : a + std::log1p(std::exp(b - a));
}

void Finished::add(std::string text, double score) {
  const std::size_t hash = std::hash<std::string>()(text);
  auto found = std::find(hashes_.begin(), hashes_.end(), hash);
  while (found != hashes_.end() && entry_at(found).text != text) found = std::find(found + 1, hashes_.end(), hash);
  double before = -std::numeric_limits<double>::infinity();  // the best of its sequences so far
  if (found == hashes_.end()) {
    hashes_.push_back(hash);
    entries_.push_back({std::move(text), score, score});
  } else {
    Entry& entry = entry_at(found);
    before = entry.best;
    entry.best = std::max(entry.best, score);
    entry.sum = log_add(entry.sum, score);
  }
  if (score > bound_ && score > before) raise(before, score);
}

/// Note that the best score of a text rose.
void Finished::raise(double from, double score) {
  const auto place = std::lower_bound(best_.begin(), best_.end(), from);
  if (place != best_.end() && *place == from) {
    best_.erase(place);
  } else if (best_.size() == count_) {
    best_.erase(best_.begin());
  }
  best_.insert(std::lower_bound(best_.begin(), best_.end(), score), score);
  if (best_.size() == count_) bound_ = best_.front();
}

std::vector<Completion> Finished::rank(std::size_t count, bool merge, double mass, double floor) const {
  const auto score_of = [&](const Entry& entry) { return merge ? entry.sum : entry.best; };
  // What a damaged network says need not be a number, and what is not cannot be sorted.
  const auto counts = [&](const Entry& entry) {
    return score_of(entry) >= floor && !std::isnan(score_of(entry) - mass);
  };
  std::vector<double> scores;
  for (const Entry& entry : entries_) {
    if (counts(entry)) scores.push_back(score_of(entry));
  }
  double least = -std::numeric_limits<double>::infinity();  // of those that are returned
  if (scores.size() > count && count > 0) {
    const auto last = scores.begin() + static_cast<std::ptrdiff_t>(count - 1);
    std::nth_element(scores.begin(), last, scores.end(), std::greater<>());
    least = *last;
  }
  std::vector<Completion> ranked;
  for (const Entry& entry : entries_) {
    if (!counts(entry) || score_of(entry) < least) continue;
    ranked.push_back({unescape(entry.text), score_of(entry) - mass, Origin::model});
  }
  sort_list(ranked, comes_first);
  if (ranked.size() > count) ranked.resize(count);
  return ranked;
}

}  // namespace halfword
