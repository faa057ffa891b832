#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "completion.h"
#include "store/model_file.h"

namespace halfword {

/// The popularity index as flat arrays, the way they lie in a model file.
///
/// Queries are sorted by their UTF-8 bytes, which is the order of code points, and cut into buckets of 16. A bucket
/// holds its first query whole and, for each further one, only what differs from the query before it:
///
///     first:   length, bytes
///     further: shared (one byte), length, bytes      (lengths are base-128 integers, low digits first)
///
/// Counts lie beside them in the same order, cut into blocks of 32 with the largest count and the running sum of each
/// block. `range_max` answers "which of the blocks i to j holds the largest count?" with two look-ups: row k gives, for
/// every block i, the best of the 2^k blocks from i on; the leftmost wins a tie.
struct PopularArrays {
  std::vector<std::uint8_t> text;
  std::vector<std::uint32_t> bucket_begin;  // where each bucket starts in `text`, and where the last one ends
  std::vector<std::uint32_t> count;
  std::vector<std::uint32_t> block_max;
  std::vector<std::uint64_t> block_sum;  // the sum of all counts before each block, and the sum of all
  std::vector<std::uint32_t> range_max;
};

/// Build the index; the queries may come in any order, but each only once.
PopularArrays build_popular(std::vector<std::pair<std::string, std::uint32_t>> queries);

/// A query and how often it was typed.
struct TypedQuery {
  std::string text;
  std::uint32_t count;
};

/// The queries most typed that begin with a prefix, how often all that do were typed, and how many those are.
struct TypedQueries {
  std::vector<TypedQuery> queries;
  std::uint64_t total;
  std::uint64_t distinct;
  std::uint32_t itself;  // how often the prefix itself was typed (or, echoed, what it is without its space)
  std::size_t first;     // where those that begin so begin in the index
  std::size_t last;      // and where they end

  std::uint64_t longer_total() const { return total - itself; }
  std::uint64_t longer_distinct() const { return distinct - (itself > 0 ? 1 : 0); }
};

/// Most popular completion: of all the queries that begin with a prefix, the ones typed most often.
///
/// It reads the mapped arrays where they lie, so loading costs nothing and processes share one copy. Every read is
/// bounded: a damaged file gives wrong answers, never a read outside it.
class Popular {
 public:
  explicit Popular(const ModelFile& file);

  /// The `count` most typed queries that begin with `prefix` and are longer; ties go by text. With `echo` the prefix
  /// without its trailing space is a candidate too, as it is in the paper's code.
  TypedQueries most_typed(std::string_view prefix, std::size_t count, bool echo) const;

  /// The same as completions, scored by their share of all that was typed.
  std::vector<Completion> complete(std::string_view prefix, std::size_t count, bool echo) const;

  /// How often `query` was typed, which lies between two places of the index if anywhere.
  std::uint32_t count_of(std::string_view query, std::size_t first, std::size_t last) const;

  /// The query at a place of the index, which is below its size.
  TypedQuery at(std::size_t position) const;

  std::size_t size() const { return count_.size(); }

 private:
  struct Place {
    std::size_t position;
    bool exact;
  };
  class Stretches;

  Place lower_bound(std::string_view query) const { return lower_bound(query, 0, size()); }
  Place lower_bound(std::string_view query, std::size_t begin, std::size_t end) const;
  std::size_t last_bucket_not_after(std::string_view query, std::size_t low, std::size_t high) const;
  std::size_t best_in(std::size_t begin, std::size_t end) const;
  std::size_t best_block(std::size_t begin, std::size_t end) const;
  std::uint64_t sum_of(std::size_t begin, std::size_t end) const;
  std::uint64_t sum_before(std::size_t position) const;
  std::span<const std::uint8_t> bucket(std::size_t index) const;

  std::span<const std::uint8_t> text_;
  std::span<const std::uint32_t> bucket_begin_;
  std::span<const std::uint32_t> count_;
  std::span<const std::uint32_t> block_max_;
  std::span<const std::uint64_t> block_sum_;
  std::span<const std::uint32_t> range_max_;
};

}  // namespace halfword
