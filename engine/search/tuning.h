#pragma once

#include <cstddef>

namespace halfword {

/// Numbers that decide how fast a search is, or how much memory it takes, but not what it answers. They were measured
/// on an AVX-512 machine with networks of 300 to 1,200 units (docs/research/engine.md).
struct SearchTuning {
  /// Nats below the best waiting hypothesis within which another one is read with it, since several rows cost little
  /// more than one: before there are enough answers, and when there are.
  double likely_early = 4.0;
  double likely_late = 0.7;

  /// Nats below the last answer from which on a sequence adds nothing that would show: less than a millionth.
  double negligible = 14.0;

  /// Rows in use from which on the shortest hypotheses are read first, so that memory stays bounded.
  std::size_t crowded_rows = 2048;

  /// Rows whose predictions are made together while the prefix is read.
  std::size_t start_window = 32;

  /// Bytes of the longest prefix whose answer is kept in the answer cache: everybody types through these.
  std::size_t short_prefix = 4;

  /// Earlier queries of sessions whose keys are kept, in each of two generations: at most 40 keys of each.
  std::size_t earlier_queries = 2048;

  /// Completions of the longest answer that is kept there, so that the cache is bounded in bytes too.
  std::size_t most_kept = 50;
};

inline constexpr SearchTuning tuning;

}  // namespace halfword
