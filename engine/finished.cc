#include "finished.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <utility>

#include "escape.h"

namespace halfword {

double log_add(double a, double b) {
  if (a < b) std::swap(a, b);
  return std::isinf(b) ? a : a + std::log1p(std::exp(b - a));
}

void Finished::add(std::string text, double score) {
  const auto same = [&](const Entry& entry) { return entry.text == text; };
  const auto found = std::find_if(entries_.begin(), entries_.end(), same);
  if (found == entries_.end()) {
    entries_.push_back({std::move(text), score, score});
  } else {
    found->best = std::max(found->best, score);
    found->sum = log_add(found->sum, score);
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
      ranked.push_back({unescape(entry.text), score - mass, Source::model});
    }
  }
  std::sort(ranked.begin(), ranked.end(), comes_first);
  if (ranked.size() > count) ranked.resize(count);
  return ranked;
}

}  // namespace halfword
