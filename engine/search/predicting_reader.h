#pragma once

#include <optional>
#include <vector>

#include "lm/language_model.h"
#include "search/memory_reader.h"
#include "search/reader.h"
#include "search/start_reader.h"

namespace halfword {

/// What a thread keeps from one search with a network to the next.
struct PredictingBuffers {
  ModelStates states;  // of starts and hypotheses
  Predictions predictions;
  StartBuffers starts;
  ModelScratch scratch;
  std::vector<Step> steps;
  std::vector<std::uint32_t> places;
  std::vector<std::uint32_t> copying;
  LikelyPieces likely;
  MemoryBuffers beyond;
  std::vector<std::uint8_t> is_beyond;  // by row: whether the memory alone has read it
};

/// Asks a network, alone or mixed with the memory. A row is a state and the prediction of all pieces after it; states
/// that a cache remembers are not computed again. Beyond the likely hypotheses the memory goes on alone.
class PredictingReader : public Reader {
 public:
  PredictingReader(const SearchModel& model, PredictingBuffers& buffers)
      : parts_(model),
        model_(model.model),
        buffers_(buffers),
        multiplied_before_(buffers.scratch.network.multiplications) {
    if (model_.memory()) beyond_.emplace(*model_.memory(), parts_.pieces, buffers_.beyond);
  }

  bool read_starts(std::vector<Start>& starts, const Deadline& deadline) override;
  std::size_t read_together() const override { return 4; }
  void read(std::span<RowStep> steps, std::uint32_t first) override;
  double log_probability(std::uint32_t row, PieceId piece) override;
  double weigh(std::uint32_t row, std::span<const PieceId> pieces, std::vector<float>& log_probabilities) override;
  std::span<const LikelyPiece> find_likely(std::uint32_t row, const WantedPieces& wanted) override;
  std::size_t pieces_read() const override { return read_ + (beyond_ ? beyond_->pieces_read() : 0); }
  std::size_t multiplications() const override { return buffers_.scratch.network.multiplications - multiplied_before_; }

 private:
  bool leaves_network(const RowStep& step) const { return beyond_ && !step.with_network; }
  void read_beyond(const RowStep& step);
  void offer_above(std::span<const float> logits, std::uint8_t choice);

  const SearchModel& parts_;
  const LanguageModel& model_;
  PredictingBuffers& buffers_;
  std::size_t multiplied_before_;
  std::optional<MemoryReader> beyond_;  // where there is a memory
  std::size_t read_ = 0;
};

}  // namespace halfword
