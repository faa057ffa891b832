#pragma once

#include <cstdint>
#include <limits>
#include <span>
#include <string_view>
#include <vector>

#include "completion.h"
#include "lm/language_model.h"
#include "lm/opening.h"
#include "lm/pieces.h"
#include "lm/state_cache.h"
#include "readings/reading.h"
#include "request.h"

namespace halfword {

/// What a search is asked for besides the caller's options.
struct SearchLimits {
  std::size_t surplus = 0;  // answers beyond `count` that are returned if they were found on the way
  std::size_t most_read = std::numeric_limits<std::size_t>::max();  // hypotheses read; then no further ones are
  // Log of the share of the prefix's probability below which the memory alone reads a hypothesis (without a session).
  double network_least = -std::numeric_limits<double>::infinity();
  // Log of the share of the prefix's probability below which no hypothesis is followed, unless the texts that are found
  // so are too few and have together less than the other share: then all are followed.
  double least = -std::numeric_limits<double>::infinity();
  double least_found = -std::numeric_limits<double>::infinity();
};

/// What a search found, and what it took.
struct SearchResult {
  std::vector<Completion> completions;
  double log_probability = 0.0;  // of the prefix
  bool timed_out = false;        // the deadline cut the search short
  Cost cost;
};

/// A segmentation of the beginning of a reading, from which a search sets out: the next piece must begin with `tail`.
struct Start {
  std::string_view text;  // the escaped reading, without the tail
  std::string_view tail;
  std::vector<PieceId> pieces;  // of `text`
  double score = 0.0;           // log-probability of the reading, then that of the pieces too
  bool extends = true;          // false: it may only end here (see SearchOptions::echo)
  SequenceKey key;
};

/// Where a search of an escaped reading may set out: for every retrace up to the limit, the text without its last
/// characters, as long as some piece begins with those and goes on. None of them after the deadline.
std::vector<Start> find_starts(const Pieces& pieces, std::string_view escaped, const SearchOptions& options,
                               const Deadline& deadline);

/// What a search reads; the cache alone changes.
struct SearchModel {
  const Pieces& pieces;
  const LanguageModel& model;
  const Opening& opening;
  StateCache& cache;
  const Earlier* earlier;  // what can be copied from the session; null: nothing
};

/// The likeliest completions of some readings by the language model, best first. A reading's log-probability is added
/// to the score of all that goes on from it.
SearchResult search(const SearchModel& model, std::span<const Reading> readings, const SearchOptions& options,
                    const SearchLimits& limits, const Deadline& deadline);

}  // namespace halfword
