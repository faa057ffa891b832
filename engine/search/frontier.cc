#include "search/frontier.h"

namespace halfword {

void Frontier::reset(std::size_t beam) {
  for (std::size_t length = 0; length < used_; ++length) {
    levels_[length].waiting.clear();
    levels_[length].taken = 0;
  }
  used_ = 0;
  beam_ = beam;
}

namespace {

/// The place of a child among sorted ones, from `first` on. Scores alone are compared in the loop, so that nothing is
/// guessed there; equal ones are rare.
std::vector<Child>::iterator place_of(std::vector<Child>& waiting, std::size_t first, const Child& child) {
  for (std::size_t left = waiting.size() - first; left > 0;) {
    const std::size_t half = (left + 1) / 2;
    first += waiting[first + half - 1].score < child.score ? half : 0;
    left -= half;
  }
  while (first < waiting.size() && waiting[first] < child) ++first;
  return waiting.begin() + static_cast<std::ptrdiff_t>(first);
}

}  // namespace

std::optional<Child> Frontier::offer(std::size_t length, const Child& child) {
  Level& level = level_at(length);
  std::vector<Child>& waiting = level.waiting;
  if (level.taken + waiting.size() < beam_) {
    waiting.insert(place_of(waiting, 0, child), child);
    return std::nullopt;
  }
  if (waiting.empty() || !(waiting.front() < child)) return child;
  const Child worst = waiting.front();
  const auto place = place_of(waiting, 1, child);
  *std::move(waiting.begin() + 1, place, waiting.begin()) = child;
  return worst;
}

double Frontier::threshold(std::size_t length) const {
  if (length >= used_) return -std::numeric_limits<double>::infinity();
  const Level& level = levels_[length];
  if (level.taken + level.waiting.size() < beam_) return -std::numeric_limits<double>::infinity();
  return level.waiting.empty() ? std::numeric_limits<double>::infinity() : level.waiting.front().score;
}

std::size_t Frontier::best_length() const {
  std::size_t best = 0;
  for (std::size_t length = 1; length < used_; ++length) {
    const std::vector<Child>& waiting = levels_[length].waiting;
    if (waiting.empty()) continue;
    if (best == 0 || waiting.back().score > levels_[best].waiting.back().score) best = length;
  }
  return best;
}

std::size_t Frontier::shortest_length() const {
  for (std::size_t length = 1; length < used_; ++length) {
    if (!levels_[length].waiting.empty()) return length;
  }
  return 0;
}

Child Frontier::take(std::size_t length) {
  Level& level = levels_[length];
  const Child child = level.waiting.back();
  level.waiting.pop_back();
  ++level.taken;
  return child;
}

}  // namespace halfword
