#include "search/finished.h"

#include <algorithm>
#include <cmath>
#include <functional>
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
  if (found == hashes_.end()) {
    hashes_.push_back(hash);
    entries_.push_back({std::move(text), score, score});
  } else {
    Entry& entry = entry_at(found);
    entry.best = std::max(entry.best, score);
    entry.sum = log_add(entry.sum, score);
  }
  if (score > bound_) update_bound();
}

void Finished::update_bound() {
  if (entries_.size() < count_) return;
  scores_.clear();
  for (const Entry& entry : entries_) scores_.push_back(entry.best);
  const auto nth = scores_.begin() + static_cast<std::ptrdiff_t>(count_ - 1);
  std::nth_element(scores_.begin(), nth, scores_.end(), std::greater<>());
  bound_ = *nth;
}

std::vector<Completion> Finished::rank(std::size_t count, bool merge, double mass, double floor) const {
  std::vector<Completion> ranked;
  for (const Entry& entry : entries_) {
    const double score = merge ? entry.sum : entry.best;
    // What a damaged network says need not be a number, and what is not cannot be sorted.
    if (score >= floor && !std::isnan(score - mass)) {
      ranked.push_back({unescape(entry.text), score - mass, Origin::model});
    }
  }
  sort_list(ranked, comes_first);
  if (ranked.size() > count) ranked.resize(count);
  return ranked;
}

}  // namespace halfword
