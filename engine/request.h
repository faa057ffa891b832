#pragma once

#include <chrono>
#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "completion.h"

namespace halfword {

/// Whether texts with words that nobody typed are shown: none; those that are likely enough; all.
enum class Invent { never, careful, freely };

/// How wide, how far back and how long to search. The Python type of the same name is the only home of the defaults; it
/// explains and checks the values.
struct SearchOptions {
  std::size_t count{};
  std::size_t beam{};
  std::size_t retrace{};
  std::size_t segmentations{};
  std::size_t max_pieces{};
  bool merge{};
  bool prune{};
  bool conditional{};
  bool echo{};
  bool fold{};       // also find what differs from the typed text in accents, apostrophes, hyphens or half a syllable
  bool typos{};      // also find what the text may stand for if it was mistyped
  bool any_order{};  // also find queries that hold the typed words in another order
  double haste{};
  bool adapt{};              // the policy chooses beam, haste and whether to ask the network, by what popularity knows
  double min_probability{};  // below 0: the policy's
  Invent invent{};
  double deadline_ms{};  // 0: none

  bool operator==(const SearchOptions&) const = default;
};

/// What a caller asks: the text typed so far, how to answer, and the session's earlier queries, the oldest first.
struct Request {
  std::string typed;
  SearchOptions options;
  std::vector<std::string> context{};
};

/// What an answer took.
struct Cost {
  std::size_t pieces_read = 0;      // by the language model, over all hypotheses
  std::size_t longest = 0;          // pieces of the longest hypothesis beyond the prefix
  std::size_t rows = 0;             // of states and predictions that the search needed room for
  std::size_t multiplications = 0;  // multiply-adds of the network
};

/// What a caller gets: the likeliest completions, best first.
struct Answer {
  std::vector<Completion> completions;
  bool timed_out = false;  // the deadline passed, so that better completions may be missing
  Cost cost;
};

/// The time at which an answer must be given.
class Deadline {
 public:
  /// So many milliseconds from now; 0 for no deadline.
  explicit Deadline(double milliseconds) {
    if (milliseconds <= 0.0) return;
    const std::chrono::duration<double, std::milli> length(milliseconds);
    end_ = Clock::now() + std::chrono::duration_cast<Clock::duration>(length);
  }

  bool passed() const { return end_ && Clock::now() >= *end_; }

 private:
  using Clock = std::chrono::steady_clock;

  std::optional<Clock::time_point> end_;
};

}  // namespace halfword
