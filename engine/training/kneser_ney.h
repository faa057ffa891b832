#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "training/ngram_trie.h"
#include "training/workers.h"

/// Interpolated modified Kneser-Ney over a trie in files or in memory. `src/halfword/training/kneser_ney.py` explains
/// the formulas, and gives the same numbers to the last bit: sums of fractions are taken in the order of the n-grams,
/// and everything else is a whole number.

namespace halfword {

using Discount = std::array<double, 4>;      // of the counts 0, 1, 2 and 3 or more
using Discounts = std::vector<Discount>;     // by order, order 1 first
using Losses = std::vector<Column<double>>;  // by order, order 1 first, which has none

/// Some numbers, ascending, and how often each occurs.
using Times = std::vector<std::pair<std::uint64_t, std::uint64_t>>;

/// What the children of a context add up to.
struct ContextSums {
  double total = 0.0;    // of the adjusted counts of all; at least 1
  double backoff = 1.0;  // what the gains of those kept leave of it
  std::size_t kept = 0;  // children that are kept
};

/// What an adjusted count is worth after its discount.
inline double gain_of(std::uint64_t count, const Discount& discount) {
  return static_cast<double>(count) - discount[count < 3 ? static_cast<std::size_t>(count) : 3];
}

/// The sums of one context of an order; its children are in the next order, whose discount is given.
ContextSums sums_of(const NgramTrie& trie, std::size_t order, std::size_t place, const Discount& discount);

/// Work out the adjusted counts of all orders from the n-grams that are kept.
void adjust_counts(NgramTrie& trie, const Workers& workers);

/// The adjusted counts of the n-grams of an order that are kept.
Times adjusted_times(const NgramTrie& trie, std::size_t order, const Workers& workers);

/// The likelihood that pruning each n-gram alone would cost; `unigram` has the probabilities of order 1.
Losses losses_of(const NgramTrie& trie, const Discounts& discounts, std::span<const double> unigram,
                 const Workers& workers);

}  // namespace halfword
