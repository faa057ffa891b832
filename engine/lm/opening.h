#pragma once

#include <cstddef>
#include <vector>

#include "lm/language_model.h"
#include "lm/pieces.h"

namespace halfword {

/// States and predictions for the beginning of every query: the begin piece, and after it each piece that can begin a
/// word. Computed once when a model is loaded, so that no search has to.
class Opening {
 public:
  /// `most_predictions`: numbers, of 4 bytes each; if there are more, predictions are made when they are needed,
  /// and with 0 the states after the first piece too.
  Opening(const LanguageModel& model, const Pieces& pieces, std::size_t most_predictions);

  /// The state after the begin piece, in row 0.
  const ModelStates& begin_state() const { return begin_; }
  const Predictions& begin_prediction() const { return prediction_; }

  /// The states after the begin piece and one more; a piece's row is row_of(piece).
  const ModelStates& first_states() const { return first_; }

  /// The predictions after each of them; empty if the vocabulary is so large that they would need too much memory.
  const Predictions& first_predictions() const { return first_predictions_; }

  /// The row of `piece` among the first states; only pieces that begin a word have one.
  bool has_row(PieceId piece) const { return rows_[piece] != no_row; }
  std::size_t row_of(PieceId piece) const { return rows_[piece]; }

 private:
  static constexpr std::uint32_t no_row = UINT32_MAX;

  ModelStates begin_;
  Predictions prediction_;
  ModelStates first_;
  Predictions first_predictions_;
  std::vector<std::uint32_t> rows_;
};

}  // namespace halfword
