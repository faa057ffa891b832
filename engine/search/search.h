#pragma once

#include <cstdint>
#include <limits>
#include <string_view>
#include <vector>

#include "search/completion.h"
#include "lm/language_model.h"
#include "lm/opening.h"
#include "lm/pieces.h"
#include "lm/state_cache.h"

namespace halfword {

/// How wide, how far back and how long to search; the Python type of the same name checks the values and explains them.
struct SearchOptions {
  std::size_t count = 10;
  std::size_t surplus = 0;  // answers beyond `count` that are returned if they were found on the way
  std::size_t beam = 10;
  std::size_t retrace = std::numeric_limits<std::size_t>::max();
  std::size_t segmentations = 1;
  std::size_t max_pieces = 40;
  std::size_t most_read = std::numeric_limits<std::size_t>::max();  // of hypotheses, then no further ones are
  bool merge = true;
  bool prune = true;
  bool conditional = true;
  bool echo = false;
  double haste = 0.0;
  bool adapt = false;  // a blend chooses how hard to search, and whether by its network, by how much popularity knows
  double min_probability = 0.0;
  double deadline_ms = 0.0;  // 0: none
};

/// What a search found, and what it took.
struct SearchResult {
  std::vector<Completion> completions;
  std::size_t cells = 0;  // pieces read by the model, over all hypotheses
  std::size_t steps = 0;  // pieces of the longest hypothesis beyond the prefix
  std::size_t rows = 0;   // of states and predictions that it needed room for
  double mass = 0.0;      // the log-probability of the prefix
  bool in_time = true;    // false when the deadline cut the search short
  std::size_t multiplications = 0;
};

/// A segmentation of the beginning of a prefix, from which a search sets out: the next piece must begin with `tail`.
struct Start {
  std::vector<PieceId> pieces;
  std::string_view tail;
  bool extends = true;  // false: it may only end here (see SearchOptions::echo)
  double score = 0.0;
  SequenceKey key;
};

/// Where a search of `escaped` may set out: for every retrace up to the limit, the prefix without its last characters,
/// as long as some piece begins with those and goes on.
std::vector<Start> find_starts(const Pieces& pieces, std::string_view escaped, const SearchOptions& options);

/// What a search reads; the cache alone changes.
struct SearchModel {
  const Pieces& pieces;
  const LanguageModel& model;
  const Opening& opening;
  StateCache& cache;
};

/// The likeliest completions of `prefix` by the network, best first.
SearchResult search(const SearchModel& model, std::string_view prefix, const SearchOptions& options);

}  // namespace halfword
