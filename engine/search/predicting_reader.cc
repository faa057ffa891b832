#include "search/predicting_reader.h"

#include <algorithm>
#include <cmath>

namespace halfword {

bool PredictingReader::read_starts(std::vector<Start>& starts, const Deadline& deadline) {
  StartReader reader(parts_, deadline, buffers_.starts, buffers_.scratch);
  const bool in_time = reader.read(starts, buffers_.states, buffers_.predictions);
  read_ += reader.pieces_read();
  return in_time;
}

void PredictingReader::read(std::span<RowStep> steps, std::uint32_t first) {
  StateCache& cache = parts_.cache;
  std::uint32_t remembered = first + static_cast<std::uint32_t>(steps.size());
  buffers_.steps.clear();
  for (RowStep& step : steps) {
    if (cache.find(model_, step.key, buffers_.states, buffers_.predictions, remembered - 1)) {
      step.to = --remembered;
      continue;
    }
    step.to = first + static_cast<std::uint32_t>(buffers_.steps.size());
    buffers_.steps.push_back({step.from, step.piece});
  }
  if (!buffers_.steps.empty()) {
    model_.step(buffers_.states, buffers_.steps, buffers_.states, first, buffers_.scratch);
    model_.predict(buffers_.states, first, buffers_.steps.size(), buffers_.predictions, buffers_.scratch);
    read_ += buffers_.steps.size();
  }
  for (const RowStep& step : steps) {
    if (step.to < remembered) cache.insert(model_, step.key, buffers_.states, buffers_.predictions, step.to);
  }
  if (parts_.earlier == nullptr) return;
  buffers_.copying.clear();  // the cache keeps what does not depend on the session
  for (const RowStep& step : steps) buffers_.copying.push_back(step.to);
  model_.copy_earlier(*parts_.earlier, buffers_.states, buffers_.copying, buffers_.predictions, buffers_.scratch);
}

double PredictingReader::log_probability(std::uint32_t row, PieceId piece) {
  return buffers_.predictions.row(row)[piece] - buffers_.predictions.normalisers[row];
}

double PredictingReader::weigh(std::uint32_t row, std::span<const PieceId> pieces,
                               std::vector<float>& log_probabilities) {
  const std::span<const float> logits = buffers_.predictions.row(row);
  const float normaliser = buffers_.predictions.normalisers[row];
  double sum = 0.0;
  log_probabilities.clear();
  for (const PieceId piece : pieces) {
    log_probabilities.push_back(logits[piece] - normaliser);
    sum += std::exp(static_cast<double>(log_probabilities.back()));
  }
  return std::log(sum);
}

std::span<const LikelyPiece> PredictingReader::find_likely(std::uint32_t row, const WantedPieces& wanted) {
  const std::span<const float> logits = buffers_.predictions.row(row);
  const float normaliser = buffers_.predictions.normalisers[row];
  const std::span<const std::uint8_t> choices = parts_.pieces.choices();
  constexpr std::size_t stride = 256;  // the threshold rises as pieces are found, so ask for few at a time
  constexpr double slack = 1e-3;       // for the comparison is made in floats; the search makes it again in doubles
  LikelyPieces& likely = buffers_.likely;
  likely.reset(static_cast<float>(std::clamp(wanted.least + normaliser - slack, -1e30, 1e30)), wanted.most);
  grow(buffers_.places, stride);
  for (std::size_t first = 0; first < choices.size(); first += stride) {
    const std::size_t size = std::min(stride, choices.size() - first);
    const float* const values = logits.data() + first;
    const std::size_t found = model_.kernels().find_above(values, size, likely.least(), buffers_.places.data());
    for (std::size_t i = 0; i < found; ++i) {
      const std::size_t place = buffers_.places[i];
      const auto piece = static_cast<PieceId>(first + place);
      if ((choices[piece] & wanted.choice) != 0) likely.offer({piece, values[place]});
    }
  }
  for (LikelyPiece& each : likely.found()) each.value -= normaliser;
  return likely.found();
}

}  // namespace halfword
