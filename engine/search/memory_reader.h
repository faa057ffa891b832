#pragma once

#include <vector>

#include "search/reader.h"

namespace halfword {

/// What a thread keeps from one search in the memory to the next.
struct MemoryBuffers {
  std::vector<NgramState> rows;
  std::vector<NgramState> path;  // the states of all starts, piece by piece
  std::vector<double> scores;    // and the scores up to each
  std::vector<float> probabilities;
  NgramScratch scratch;
};

/// Asks the n-gram memory alone. A row is a few contexts, and what may follow them is only looked up as far as it can
/// matter; the probabilities of all pieces are never computed. Four rows cost four times as much as one, so none is
/// read before its turn.
class MemoryReader : public Reader {
 public:
  MemoryReader(const Ngram& memory, const Pieces& pieces, MemoryBuffers& buffers)
      : memory_(memory), pieces_(pieces), buffers_(buffers) {}

  bool read_starts(std::vector<Start>& starts, const Deadline& deadline) override;
  std::size_t read_together() const override { return 1; }
  void read(std::span<RowStep> steps, std::uint32_t first) override;
  double log_probability(std::uint32_t row, PieceId piece) override;
  double weigh(std::uint32_t row, std::span<const PieceId> pieces, std::vector<float>& log_probabilities) override;
  std::span<const LikelyPiece> find_likely(std::uint32_t row, const WantedPieces& wanted) override;
  std::size_t pieces_read() const override { return read_; }

  /// Put a state that was read elsewhere into a row.
  void put(std::uint32_t row, const NgramState& state);

  /// Read the piece of a step into the row that the step names.
  void read(const RowStep& step);

 private:
  const Ngram& memory_;
  const Pieces& pieces_;
  MemoryBuffers& buffers_;
  std::size_t read_ = 0;
};

}  // namespace halfword
