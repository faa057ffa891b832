#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "rank/policy.h"
#include "sources/other_order.h"
#include "sources/pinyin.h"
#include "store/live_state.h"
#include "store/model_file.h"
#include "store/popular.h"
#include "text/endings.h"

namespace halfword {

/// Finds known queries that may be meant by a text, though they do not go on from it: they have its words in another
/// order or in another form, or have it inside a word, or have other spaces, or are how it is typed in Latin
/// letters. A model file may have all the indexes for that or some of them. `search/reference_elsewhere.py` has the
/// rules.
class Elsewhere {
 public:
  Elsewhere(const ModelFile& file, const Popular& queries, const Policy& policy);

  /// The most typed queries that are found by the words of a text, counted with the live changes, which may be null;
  /// `folds` tells whether other spellings of a word are the same one.
  std::vector<FoundQuery> find(const std::string& text, bool folds, const LiveState* live) const;

  /// Whether queries can be found by how they are typed in Latin letters, and the most typed of them, counted likewise.
  bool knows_pinyin() const { return pinyin_.has_value(); }
  std::vector<FoundQuery> find_by_pinyin(std::string_view text, const LiveState* live) const;

 private:
  class Search;

  const Popular& queries_;
  const Policy& policy_;
  std::optional<OtherOrder> other_order_;
  std::optional<Endings> endings_;
  std::optional<Pinyin> pinyin_;
};

}  // namespace halfword
