#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "store/model_file.h"
#include "store/sorted_texts.h"

namespace halfword {

/// The popularity index as flat arrays, in the layout of the model file.
///
/// Counts are stored in the order of the sorted queries, in blocks of 32, with the largest count and the running sum of
/// each block. Most are small, so each has one byte; 255 stands for a count that is listed apart. Eight blocks are a
/// group. `range_max` is a sparse table that answers "which block of the groups i to j holds the largest count?" with
/// two look-ups: row k gives, for every group i, the best block of the 2^k groups from i on; the leftmost wins a tie.
struct PopularArrays {
  SortedTextArrays texts;
  std::vector<std::uint8_t> count;
  std::vector<std::uint32_t> large;        // the positions of the counts of 255 and more, rising
  std::vector<std::uint32_t> large_count;  // and these counts
  std::vector<std::uint32_t> block_max;
  std::vector<std::uint64_t> block_sum;  // the sum of all counts before each block, and the sum of all
  std::vector<std::uint32_t> range_max;
};

/// Build the index; the queries may come in any order, but each must be there only once.
PopularArrays build_popular(std::vector<std::pair<std::string, std::uint32_t>> queries);

/// The same from sorted queries.
PopularArrays build_popular(std::span<const std::string_view> sorted, std::span<const std::uint32_t> counts);

/// A query and its count.
struct TypedQuery {
  std::string text;
  double count;
  double since = 0.0;  // how much of the count was added after the training
};

/// The most typed queries that begin with a prefix, and totals over all queries that begin with it.
struct TypedQueries {
  std::vector<TypedQuery> queries;
  double total;
  double distinct;
  double itself;      // the count of the prefix itself (with `echo`, of the prefix without its trailing space)
  std::size_t first;  // the queries that begin with the prefix are at first … last − 1 in the index
  std::size_t last;
  double since = 0.0;  // how much of the total was added after the training

  double longer_total() const { return total - itself; }
  double longer_distinct() const { return distinct - (itself > 0.0 ? 1.0 : 0.0); }
};

/// Most popular completion: of all queries that begin with a prefix, those with the highest counts.
///
/// It reads the mapped arrays in place, so loading costs nothing and processes share one copy. Every read is bounded: a
/// damaged file gives wrong answers, never a read outside the file.
class Popular {
 public:
  /// `part` is what the names of its arrays begin with.
  explicit Popular(const ModelFile& file, const std::string& part = "popular");

  /// The `count` most typed queries that begin with `prefix` and are longer; ties are ordered by text. With `echo` the
  /// prefix without its trailing space is a candidate too, as it is in the paper's code.
  TypedQueries most_typed(std::string_view prefix, std::size_t count, bool echo) const;

  /// How often `query` was typed, which lies between two places of the index if anywhere.
  std::uint32_t count_of(std::string_view query, std::size_t first, std::size_t last) const;

  /// Where the queries lie that begin with `prefix`, from the first to before the last.
  std::pair<std::size_t, std::size_t> range_of(std::string_view prefix) const;

  /// The same, where they lie among those that begin with a part of the prefix.
  std::pair<std::size_t, std::size_t> range_of(std::string_view prefix, std::size_t first, std::size_t last) const;

  /// How often queries were typed that begin with `prefix`.
  double total_of(std::string_view prefix) const;

  /// How often all queries were typed.
  std::uint64_t total() const { return sum_before(size()); }

  /// Where the `count` most typed queries lie that begin with `prefix` or are the prefix; ties are ordered by text.
  std::vector<std::size_t> best_of(std::string_view prefix, std::size_t count) const;

  /// The query at `position`, which must be less than size().
  TypedQuery at(std::size_t position) const;

  /// Put its text into one that is used again and again, or have it fetched for that.
  void read_text(std::size_t position, std::string& text) const { texts_.read(position, text); }
  void expect_text(std::size_t position) const { texts_.expect(position); }

  /// Where a query is, or the next one after it, and its count.
  SortedTexts::Place place_of(std::string_view query) const { return texts_.lower_bound(query); }
  std::uint32_t logged_at(std::size_t position) const {
    return count_[position] < large_count ? count_[position] : large_at(position);
  }

  /// How often the queries from `begin` to before `end` were typed.
  double sum_of(std::size_t begin, std::size_t end) const;

  std::size_t size() const { return count_.size(); }

  class Stretches;

  static constexpr std::uint8_t large_count = 255;  // stands for a count that is listed apart

 private:
  std::uint32_t large_at(std::size_t position) const;
  std::size_t end_position(std::string_view prefix, std::size_t first) const;
  std::size_t best_in(std::size_t begin, std::size_t end) const;
  std::size_t best_block(std::size_t begin, std::size_t end) const;
  std::uint64_t sum_before(std::size_t position) const;

  std::span<const std::uint8_t> count_;
  SortedTexts texts_;
  std::span<const std::uint32_t> large_;
  std::span<const std::uint32_t> large_count_;
  std::span<const std::uint32_t> block_max_;
  std::span<const std::uint64_t> block_sum_;
  std::span<const std::uint32_t> range_max_;
};

/// Ranges of queries in a heap; on top is the range whose best query has the highest count.
class Popular::Stretches {
 public:
  Stretches(const Popular& popular, std::size_t count) : popular_(popular) { heap_.reserve(2 * count + 2); }

  void add(std::size_t begin, std::size_t end);

  /// Remove and return the position of the best query of all; the ranges left and right of it go back into the heap.
  std::size_t take_best();

  /// The count of the best query of all; below 0 if there is none.
  double most() const { return heap_.empty() ? -1.0 : static_cast<double>(heap_.front().count); }

  bool empty() const { return heap_.empty(); }

 private:
  struct Stretch {
    std::uint32_t count;
    std::size_t best;
    std::size_t begin;
    std::size_t end;

    bool operator<(const Stretch& other) const {
      return count != other.count ? count < other.count : best > other.best;
    }
  };

  const Popular& popular_;
  std::vector<Stretch> heap_;
};

}  // namespace halfword
