#include "training/kneser_ney.h"

#include <algorithm>
#include <atomic>
#include <cmath>
#include <map>

namespace halfword {
namespace {

constexpr std::size_t dense = 1 << 16;  // counts below it are counted in an array

/// Add what a part of an order hands down to its suffixes.
void hand_down(const NgramTrie& trie, std::size_t order, std::size_t part, Column<std::uint64_t>& suffixes) {
  const NgramLevel& level = trie.level(order);
  for (std::size_t place = level.parts[part]; place < level.parts[part + 1]; ++place) {
    std::uint64_t handed = level.is_kept(place) ? 1 : level.adjusted[place];
    if (!level.count.empty()) handed -= level.count[place];  // which the count of its suffix holds
    std::atomic_ref(suffixes[level.suffix_of(place)]).fetch_add(handed, std::memory_order_relaxed);
  }
}

/// Set adjusted counts to what no n-gram of the order above hands down: what was cut hands its whole count down, and is
/// in the count of its suffix alone.
void begin_at(NgramLevel& level, std::size_t first, std::size_t last) {
  if (level.count.empty()) {
    std::fill_n(level.adjusted.data() + first, last - first, 0);
  } else {
    std::copy_n(level.count.data() + first, last - first, level.adjusted.data() + first);
  }
}

/// Work out the probabilities and the losses of a part of an order, from the probabilities of the order below.
void lose(const NgramTrie& trie, std::size_t order, std::size_t part, const Discount& discount,
          std::span<const double> lower_order, double* probabilities, double* losses) {
  const NgramLevel& contexts = trie.level(order - 1);
  const NgramLevel& level = trie.level(order);
  for (std::size_t context = contexts.parts[part]; context < contexts.parts[part + 1]; ++context) {
    const std::size_t last = contexts.first_child[context + 1];
    std::size_t child = contexts.first_child[context];
    if (child == last) continue;
    const ContextSums sums = sums_of(trie, order - 1, context, discount);
    for (; child < last; ++child) {
      const double share = gain_of(level.adjusted[child], discount) / sums.total;
      const double lower = lower_order[level.suffix_of(child)];
      const double probability = share + sums.backoff * lower;
      const double without = (sums.backoff + share) * lower;
      losses[child] = sums.total * (probability * std::log(probability / without) - share * (1 - lower));
      if (probabilities != nullptr) probabilities[child] = probability;
    }
  }
}

}  // namespace

ContextSums sums_of(const NgramTrie& trie, std::size_t order, std::size_t place, const Discount& discount) {
  const NgramLevel& contexts = trie.level(order);
  const NgramLevel& level = trie.level(order + 1);
  const std::size_t last = contexts.first_child[place + 1];
  ContextSums sums;
  std::uint64_t total = contexts.cut_after(place);
  double gains = 0.0;
  for (std::size_t child = contexts.first_child[place]; child < last; ++child) {
    total += level.adjusted[child];
    if (!level.is_kept(child)) continue;
    gains += gain_of(level.adjusted[child], discount);
    ++sums.kept;
  }
  sums.total = static_cast<double>(std::max<std::uint64_t>(total, 1));
  sums.backoff = 1 - gains / sums.total;
  return sums;
}

void adjust_counts(NgramTrie& trie, const Workers& workers) {
  for (std::size_t order = trie.order(); order > 1; --order) {
    NgramLevel& below = trie.level(order - 1);
    const auto [first, last] = trie.beginnings(order - 1);  // no suffix begins a query
    begin_at(below, 0, first);
    begin_at(below, last, below.size);
    if (order == 2) below.adjusted[trie.begin()] = 0;  // which is never predicted
    workers.each(trie.parts(), [&](std::size_t part, std::size_t) {
      hand_down(trie, order, part, below.adjusted);
      trie.level(order).forget(part);
    });
  }
}

Times adjusted_times(const NgramTrie& trie, std::size_t order, const Workers& workers) {
  const NgramLevel& level = trie.level(order);
  std::vector<std::vector<std::uint64_t>> small(workers.threads());
  std::vector<std::map<std::uint64_t, std::uint64_t>> large(workers.threads());
  workers.each(trie.parts(), [&](std::size_t part, std::size_t thread) {
    small[thread].resize(dense);
    for (std::size_t place = level.parts[part]; place < level.parts[part + 1]; ++place) {
      if (!level.is_kept(place)) continue;
      const std::uint64_t count = level.adjusted[place];
      ++(count < dense ? small[thread][count] : large[thread][count]);
    }
    level.forget(part);
  });
  std::map<std::uint64_t, std::uint64_t> all;
  for (std::size_t thread = 0; thread < workers.threads(); ++thread) {
    for (std::size_t count = 0; count < small[thread].size(); ++count) {
      if (small[thread][count] != 0) all[count] += small[thread][count];
    }
    for (const auto& [count, times] : large[thread]) all[count] += times;
  }
  return {all.begin(), all.end()};
}

Losses losses_of(const NgramTrie& trie, const Discounts& discounts, std::span<const double> unigram,
                 const Workers& workers) {
  Losses losses(trie.order());
  Column<double> lower;
  for (std::size_t order = 2; order <= trie.order(); ++order) {
    const NgramLevel& level = trie.level(order);
    Column<double> probabilities;
    if (order < trie.order()) probabilities = Column<double>(trie.scratch(), level.size);
    Column<double>& loss = losses[order - 1] = Column<double>(trie.scratch(), level.size);
    const std::span<const double> below = order == 2 ? unigram : lower.span();
    workers.each(trie.parts(), [&](std::size_t part, std::size_t) {
      lose(trie, order, part, discounts[order - 1], below, probabilities.data(), loss.data());
      level.forget(part);
      trie.level(order - 1).forget(part);
      loss.forget(level.parts[part], level.parts[part + 1]);
      if (!probabilities.empty()) probabilities.forget(level.parts[part], level.parts[part + 1]);
    });
    lower = std::move(probabilities);
  }
  return losses;
}

}  // namespace halfword
