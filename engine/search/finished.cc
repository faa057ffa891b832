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

void Finished::reset(std::size_t count) {
  count_ = count;
  bound_ = -std::numeric_limits<double>::infinity();
  texts_.clear();
  entries_.clear();
  hashes_.clear();
  best_.clear();
}

/// The entry of a text; null if there is none.
Finished::Entry* Finished::find(std::string_view text, std::size_t hash) {
  for (auto found = std::find(hashes_.begin(), hashes_.end(), hash); found != hashes_.end();
       found = std::find(found + 1, hashes_.end(), hash)) {
    Entry& entry = entries_[static_cast<std::size_t>(found - hashes_.begin())];
    if (text_of(entry) == text) return &entry;
  }
  return nullptr;
}

void Finished::add(std::string_view text, double score) {
  const std::size_t hash = std::hash<std::string_view>()(text);
  double before = -std::numeric_limits<double>::infinity();  // the best of its sequences so far
  if (Entry* const entry = find(text, hash)) {
    before = entry->best;
    entry->best = std::max(entry->best, score);
    entry->sum = log_add(entry->sum, score);
  } else {
    hashes_.push_back(hash);
    entries_.push_back({texts_.size(), text.size(), score, score});
    texts_ += text;
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

double Finished::log_probability() const {
  double sum = -std::numeric_limits<double>::infinity();
  for (const Entry& entry : entries_) sum = log_add(sum, entry.sum);
  return sum;
}

std::vector<Completion> Finished::rank(std::size_t count, bool merge, double mass, double floor) const {
  const auto score_of = [&](const Entry& entry) { return merge ? entry.sum : entry.best; };
  std::vector<const Entry*> best;
  best.reserve(entries_.size());
  for (const Entry& entry : entries_) {
    // What a damaged network says need not be a number, and what is not cannot be sorted.
    if (score_of(entry) >= floor && !std::isnan(score_of(entry) - mass)) best.push_back(&entry);
  }
  sort_list(best, [&](const Entry* left, const Entry* right) {
    if (score_of(*left) != score_of(*right)) return score_of(*left) > score_of(*right);
    return unescape(text_of(*left)) < unescape(text_of(*right));
  });
  best.resize(std::min(best.size(), count));
  std::vector<Completion> ranked;
  ranked.reserve(best.size());
  for (const Entry* entry : best) {
    ranked.push_back({unescape(text_of(*entry)), score_of(*entry) - mass, Origin::model});
  }
  return ranked;
}

}  // namespace halfword
