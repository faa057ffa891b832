#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "rank/policy.h"
#include "store/model_file.h"
#include "store/popular.h"

namespace halfword {

/// A known query that does not go on from the typed text, but was found by it.
struct FoundQuery {
  std::string text;
  double count;         // how often it was typed
  std::size_t matched;  // its bytes that stand for the typed text, those before them included
  double weight = 1.0;  // how much each time counts beside one that was found by whole words

  double worth() const { return count * weight; }
};

/// Put the queries that are worth most first, each once, with the most of it matched, and leave so many of them.
void keep_best(std::vector<FoundQuery>& found, std::size_t most);

/// Finds known queries that hold the typed words in another order, the last one by its beginning: `case iph` finds
/// `iphone case`, `choc gat` finds `gâteau au chocolat`. `search/reference_order.py` says which of them are looked at.
///
/// It is an index of folded words, `order.*`, in the layout of a popularity index (the count of a word is the number of
/// queries that hold it), and the places of the most typed of those queries: `order.places` U8 has the differences of
/// ascending places in the popularity index as base-128 integers, low digits first, and `order.begin` U32 where those
/// of each word begin.
class OtherOrder {
 public:
  OtherOrder(const ModelFile& file, const Popular& queries);

  /// The most typed queries that hold the words of `typed`, the most typed first; `folds` tells whether other spellings
  /// of a word are the same one.
  std::vector<FoundQuery> find(std::string_view typed, const Policy& policy, bool folds) const;

  /// The same of a text whose words are all abbreviated: each stands for a word that begins so (`comp sci`).
  std::vector<FoundQuery> find_abbreviated(std::string_view typed, const Policy& policy, bool folds) const;

  /// Whether queries of several words hold a word.
  bool holds(std::string_view word) const;

 private:
  class Words;
  class Finder;

  /// The places of the queries that hold the word with this number, in the order of the index.
  std::vector<std::size_t> places_of(std::size_t word) const;

  const Popular& queries_;
  Popular words_;
  std::span<const std::uint8_t> places_;
  std::span<const std::uint32_t> begin_;
};

}  // namespace halfword
