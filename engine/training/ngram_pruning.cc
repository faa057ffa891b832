#include "training/ngram_pruning.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>
#include <utility>
#include <vector>

namespace halfword {
namespace {

constexpr double never = -std::numeric_limits<double>::infinity();
constexpr unsigned digit_bits = 16;
constexpr std::size_t digits = std::size_t{1} << digit_bits;

/// A number that sorts as the loss does.
std::uint64_t rank_of(double loss) {
  loss += 0.0;  // −0 becomes 0
  std::uint64_t bits = 0;
  std::memcpy(&bits, &loss, sizeof bits);
  constexpr std::uint64_t sign = std::uint64_t{1} << 63;
  return (bits & sign) != 0 ? ~bits : bits | sign;
}

/// The greatest loss of a child, and that of the second.
struct BestChildren {
  double first = never;
  double second = never;
};

BestChildren best_children(const NgramTrie& trie, const Losses& losses, std::size_t order, std::size_t place) {
  const NgramLevel& level = trie.level(order);
  BestChildren best;
  for (std::size_t child = level.first_child[place]; child < level.first_child[place + 1]; ++child) {
    const double loss = losses[order][child];
    best.second = std::max(best.second, std::min(best.first, loss));
    best.first = std::max(best.first, loss);
  }
  return best;
}

/// What is not allowed is lost for nothing, and a prefix is worth as much as the best that needs it.
void raise_prefixes(const NgramTrie& trie, Losses& losses, const Workers& workers) {
  for (std::size_t order = trie.order(); order > 1; --order) {
    const NgramLevel& level = trie.level(order);
    Column<double>& loss = losses[order - 1];
    workers.each(trie.parts(), [&](std::size_t part, std::size_t) {
      for (std::size_t place = level.parts[part]; place < level.parts[part + 1]; ++place) {
        if (!level.is_allowed(place)) loss[place] = never;
        if (order < trie.order()) loss[place] = std::max(loss[place], best_children(trie, losses, order, place).first);
      }
      level.forget(part);
      loss.forget(level.parts[part], level.parts[part + 1]);
      if (order < trie.order()) {
        const NgramLevel& above = trie.level(order + 1);
        losses[order].forget(above.parts[part], above.parts[part + 1]);
      }
    });
  }
}

/// Call `visit(rank, is_ngram)` for each n-gram of a part that can be kept, and for each that has such a child, or two.
template <typename Visit>
void visit_ranks(const NgramTrie& trie, const Losses& losses, std::size_t part, bool alone, const Visit& visit) {
  for (std::size_t order = 2; order <= trie.order(); ++order) {
    const NgramLevel& level = trie.level(order);
    for (std::size_t place = level.parts[part]; place < level.parts[part + 1]; ++place) {
      if (losses[order - 1][place] == never) continue;
      visit(rank_of(losses[order - 1][place]), true);
      if (order == trie.order()) continue;
      const BestChildren best = best_children(trie, losses, order, place);
      const double paid = alone ? best.second : best.first;
      if (paid != never) visit(rank_of(paid), false);
    }
  }
  for (std::size_t order = 2; order <= trie.order(); ++order) {
    const NgramLevel& level = trie.level(order);
    level.forget(part);
    losses[order - 1].forget(level.parts[part], level.parts[part + 1]);
  }
}

/// How many n-grams, and how many that have children, have ranks with each digit.
struct Numbers {
  std::vector<std::uint64_t> ngrams = std::vector<std::uint64_t>(digits);
  std::vector<std::uint64_t> parents = std::vector<std::uint64_t>(digits);

  double cost(std::size_t digit, const MemoryCost& cost) const {
    return static_cast<double>(ngrams[digit]) * cost.ngram + static_cast<double>(parents[digit]) * cost.backoff;
  }
};

/// The numbers by the digit that ends at bit `shift`, of ranks that begin with the digits of `beginning`.
Numbers numbers_of(const NgramTrie& trie, const Losses& losses, bool alone, std::uint64_t beginning, unsigned shift,
                   const Workers& workers) {
  std::vector<Numbers> all(workers.threads());
  const auto matches = [&](std::uint64_t rank) {
    const unsigned known = shift + digit_bits;
    return known >= 64 || rank >> known == beginning >> known;
  };
  workers.each(trie.parts(), [&](std::size_t part, std::size_t thread) {
    visit_ranks(trie, losses, part, alone, [&](std::uint64_t rank, bool is_ngram) {
      if (!matches(rank)) return;
      const std::size_t digit = (rank >> shift) % digits;
      ++(is_ngram ? all[thread].ngrams : all[thread].parents)[digit];
    });
  });
  for (std::size_t thread = 1; thread < all.size(); ++thread) {
    for (std::size_t digit = 0; digit < digits; ++digit) {
      all[0].ngrams[digit] += all[thread].ngrams[digit];
      all[0].parents[digit] += all[thread].parents[digit];
    }
  }
  return std::move(all[0]);
}

/// N-grams above `rank` are kept, and the first few of those that have it.
struct Threshold {
  std::uint64_t rank = 0;
  std::uint64_t equal = 0;
};

/// Find where the room ends, digit by digit. Of equal ranks those that have children come first, then the lower order.
Threshold threshold_of(const NgramTrie& trie, const Losses& losses, const MemoryCost& cost, const Workers& workers) {
  Threshold found;
  double used = 0.0;
  Numbers numbers;
  std::size_t digit = 0;
  for (unsigned shift = 64; shift > 0;) {
    shift -= digit_bits;
    numbers = numbers_of(trie, losses, cost.alone, found.rank, shift, workers);
    digit = digits;
    while (digit > 0 && used + numbers.cost(digit - 1, cost) <= cost.room) used += numbers.cost(--digit, cost);
    if (digit == 0) return {};  // there is room for all
    found.rank |= static_cast<std::uint64_t>(--digit) << shift;
  }
  used += static_cast<double>(numbers.parents[digit]) * cost.backoff;
  while (found.equal < numbers.ngrams[digit] && used + static_cast<double>(found.equal + 1) * cost.ngram <= cost.room) {
    ++found.equal;
  }
  return found;
}

/// Mark what is kept of one order; `equal` says how many with the rank of the threshold may still be.
void mark(NgramTrie& trie, std::size_t order, const Column<double>& losses, const Threshold& threshold,
          std::uint64_t& equal, const Workers& workers) {
  NgramLevel& level = trie.level(order);
  level.kept = Column<std::uint8_t>(trie.scratch(), level.size);
  std::vector<std::vector<std::size_t>> ties(trie.parts());
  workers.each(trie.parts(), [&](std::size_t part, std::size_t) {
    for (std::size_t place = level.parts[part]; place < level.parts[part + 1]; ++place) {
      if (losses[place] == never) continue;
      const std::uint64_t rank = rank_of(losses[place]);
      level.kept[place] = rank > threshold.rank;
      if (rank == threshold.rank && ties[part].size() < equal) ties[part].push_back(place);
    }
    losses.forget(level.parts[part], level.parts[part + 1]);
    level.forget(part);
  });
  for (const std::vector<std::size_t>& part : ties) {
    for (const std::size_t place : part) {
      if (equal == 0) return;
      level.kept[place] = 1;
      --equal;
    }
  }
}

}  // namespace

void keep_allowed(NgramTrie& trie) {
  for (std::size_t order = 2; order <= trie.order(); ++order) {
    trie.level(order).kept = std::exchange(trie.level(order).allowed, {});
  }
}

void keep_most(NgramTrie& trie, Losses losses, const MemoryCost& cost, const Workers& workers) {
  raise_prefixes(trie, losses, workers);
  const Threshold threshold = threshold_of(trie, losses, cost, workers);
  std::uint64_t equal = threshold.equal;
  for (std::size_t order = 2; order <= trie.order(); ++order) {
    mark(trie, order, losses[order - 1], threshold, equal, workers);
    losses[order - 1] = {};
    trie.level(order).allowed = {};
  }
}

}  // namespace halfword
