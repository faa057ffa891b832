#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "lm/ngram.h"
#include "lm/pieces.h"
#include "lm/state_cache.h"
#include "request.h"

namespace halfword {

struct Start;

/// One more piece that is read after the row of a hypothesis.
struct RowStep {
  std::uint32_t from;
  PieceId piece;
  SequenceKey key;           // of all pieces, with this one
  bool with_network = true;  // where there is a network; else the memory alone reads it and what follows
  std::uint32_t to = 0;      // the row that it was read into
};

/// Which of the pieces that may follow a row are of use.
struct WantedPieces {
  double least;         // log-probability
  std::size_t most;     // so many of the likeliest
  std::uint8_t choice;  // a bit of `Pieces::choices`
};

/// Reads pieces into rows, one per hypothesis, and tells what may follow each. A search asks one reader, which belongs
/// to its thread.
class Reader {
 public:
  Reader() = default;
  Reader(const Reader&) = delete;
  Reader& operator=(const Reader&) = delete;
  virtual ~Reader() = default;

  /// Read the pieces of all starts, each into the row of its number, and add their log-probability to its score. False
  /// if the deadline passed before all were read.
  virtual bool read_starts(std::vector<Start>& starts, const Deadline& deadline) = 0;

  /// How many pieces are best read at a time: 1, or a power of two from which on reading runs at full speed.
  virtual std::size_t read_together() const = 0;

  /// Read some pieces into the rows from `first` on.
  virtual void read(std::span<RowStep> steps, std::uint32_t first) = 0;

  /// The log-probability of a piece after a row.
  virtual double log_probability(std::uint32_t row, PieceId piece) = 0;

  /// Find the log-probabilities of some pieces after a row; returns that of any of them.
  virtual double weigh(std::uint32_t row, std::span<const PieceId> pieces, std::vector<float>& log_probabilities) = 0;

  /// The pieces that are wanted, with their log-probabilities, in any order; until the next call.
  virtual std::span<const LikelyPiece> find_likely(std::uint32_t row, const WantedPieces& wanted) = 0;

  /// How many pieces were read, and how many multiply-adds of the network that took.
  virtual std::size_t pieces_read() const = 0;
  virtual std::size_t multiplications() const { return 0; }
};

}  // namespace halfword
