#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

#include "training/kneser_ney.h"
#include "training/ngram_trie.h"
#include "training/workers.h"

/// How the memory lies in a model file. `src/halfword/training/memory.py` explains the layout and writes the same
/// arrays. What depends on it in training is here, and in `engine/lm/ngram.cc`, which reads it.

namespace halfword {

/// An array of a model file.
struct NamedArray {
  std::string name;
  std::string dtype;
  std::vector<std::uint8_t> data;
};

/// The backoffs of all contexts that have children, as keys: their log-odds in thousandths.
struct BackoffKeys {
  static constexpr std::size_t size = 1 << 16;

  /// Contexts by their keys, the least key first.
  struct Contexts {
    std::vector<double> masses = std::vector<double>(size);  // the sums of their totals
    std::vector<std::int64_t> times = std::vector<std::int64_t>(size);
  };

  std::vector<Column<std::int16_t>> keys;  // per context, by order, order 1 first
  Contexts all;                            // but those with one child, where these come apart
  std::vector<Contexts> alone;             // those with one child by order, order 1 first; or empty

  static std::size_t place_of(std::int16_t key) { return static_cast<std::size_t>(key + 32768); }
};

/// With `alone`, contexts with one child come apart.
BackoffKeys backoff_keys(const NgramTrie& trie, std::size_t top, const Discounts& discounts, bool alone,
                         const Workers& workers);

/// The codes of the gains of one order, by adjusted count.
class GainCodes {
 public:
  GainCodes(std::span<const std::uint64_t> counts, std::span<const std::uint32_t> codes);
  std::uint32_t of(std::uint64_t count) const { return count < small_.size() ? small_[count] : large_.at(count); }

 private:
  std::vector<std::uint32_t> small_;
  std::unordered_map<std::uint64_t, std::uint32_t> large_;
};

/// The codes of all backoffs and gains.
struct MemoryCodes {
  unsigned bits;                                   // of a gain's code in an entry
  bool wide;                                       // whether entries have 32 bits, not 16
  std::vector<GainCodes> gains;                    // by order, order 2 first
  std::vector<std::uint8_t> backoffs;              // by `BackoffKeys::place_of`
  std::vector<std::vector<std::uint8_t>> alone{};  // of only children by the same, by the order of their contexts
};

/// The arrays of the orders 2 to `top` but those of their codes' values.
std::vector<NamedArray> memory_arrays(const NgramTrie& trie, std::size_t top, const BackoffKeys& backoffs,
                                      const MemoryCodes& codes, const Workers& workers);

}  // namespace halfword
