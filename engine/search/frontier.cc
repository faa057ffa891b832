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
