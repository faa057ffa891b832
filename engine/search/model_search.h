#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "lm/language_model.h"
#include "lm/opening.h"
#include "lm/pieces.h"
#include "lm/state_cache.h"
#include "search/generation_cache.h"
#include "search/search.h"

namespace halfword {

/// The sizes of the caches between searches; 0 switches a cache off.
struct CacheSizes {
  std::size_t states;               // sequences of pieces whose states are kept
  std::size_t answers;              // short prefixes whose complete answers are kept
  std::size_t opening = 2'000'000;  // numbers predicted in advance for the beginning of queries; if they are more: none
};

/// A language model that can be searched: its pieces, its network, its memory, and caches of recent searches.
class ModelSearch {
 public:
  /// Multiply in `precision` with the kernels called `kernels`; an empty name selects the fastest. Without a precision
  /// the network is left out, and only the memory is asked. `memory` is that of the file, if it has one.
  ModelSearch(const ModelFile& file, std::optional<Precision> precision, const std::string& kernels, CacheSizes sizes,
              std::shared_ptr<const Ngram> memory);

  /// `session` has the earlier queries of the session, the last one first.
  SearchResult complete(std::span<const Reading> readings, std::span<const std::string_view> session,
                        const SearchOptions& options, const SearchLimits& limits, const Deadline& deadline) const;

  /// Read the earlier queries of a session ahead, for a later call.
  void expect(std::span<const std::string_view> session) const;

  const Pieces& pieces() const { return pieces_; }
  const LanguageModel& model() const { return model_; }

 private:
  std::vector<std::shared_ptr<const EarlierQuery>> read_earlier(std::span<const std::string_view> session) const;

  Pieces pieces_;
  LanguageModel model_;
  Opening opening_;
  mutable StateCache states_;
  mutable GenerationCache<SearchResult> answers_;
  mutable GenerationCache<EarlierQuery> earlier_;  // by text
};

}  // namespace halfword
