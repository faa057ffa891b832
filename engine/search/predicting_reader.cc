#include "search/predicting_reader.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <functional>

namespace halfword {
namespace {

constexpr float no_bound = -1e30F;

/// A little less than a logit that `most` pieces have at least, found at a glance: the largest of every so many pieces
/// are compared. `no_bound` if that cannot be told.
float likely_least(std::span<const float> logits, std::size_t most) {
  constexpr std::size_t lanes = 64;
  if (most == 0 || most > lanes || logits.size() < 4 * lanes) return no_bound;
  std::array<float, lanes> largest;
  largest.fill(no_bound);  // what a damaged network says need not be a number, and never gets the better of this
  for (std::size_t first = 0; first + lanes <= logits.size(); first += lanes) {
    const float* const values = logits.data() + first;
    for (std::size_t lane = 0; lane < lanes; ++lane) largest[lane] = std::max(largest[lane], values[lane]);
  }
  const auto nth = largest.begin() + static_cast<std::ptrdiff_t>(most - 1);
  std::nth_element(largest.begin(), nth, largest.end(), std::greater<>());
  return std::nextafter(*nth, no_bound);
}

}  // namespace

bool PredictingReader::read_starts(std::vector<Start>& starts, const Deadline& deadline) {
  StartReader reader(parts_, deadline, buffers_.starts, buffers_.scratch);
  const bool in_time = reader.read(starts, buffers_.states, buffers_.predictions);
  read_ += reader.pieces_read();
  buffers_.is_beyond.assign(starts.size(), 0);
  return in_time;
}

/// Let the memory alone read a step. What follows has no larger share of the probability, so it stays there.
void PredictingReader::read_beyond(const RowStep& step) {
  if (buffers_.is_beyond[step.from] == 0) beyond_->put(step.from, buffers_.states.memory[step.from]);
  beyond_->read(step);
  buffers_.is_beyond[step.to] = 1;
}

void PredictingReader::read(std::span<RowStep> steps, std::uint32_t first) {
  StateCache& cache = parts_.cache;
  std::uint32_t remembered = first + static_cast<std::uint32_t>(steps.size());
  buffers_.steps.clear();
  if (buffers_.is_beyond.size() < remembered) buffers_.is_beyond.resize(remembered);
  for (RowStep& step : steps) {
    if (leaves_network(step)) {
      step.to = --remembered;
      read_beyond(step);
      continue;
    }
    if (cache.find(model_, step.key, buffers_.states, buffers_.predictions, remembered - 1)) {
      step.to = --remembered;
      buffers_.is_beyond[step.to] = 0;
      continue;
    }
    step.to = first + static_cast<std::uint32_t>(buffers_.steps.size());
    buffers_.is_beyond[step.to] = 0;
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
  for (const RowStep& step : steps) {
    if (!leaves_network(step)) buffers_.copying.push_back(step.to);
  }
  model_.copy_earlier(*parts_.earlier, buffers_.states, buffers_.copying, buffers_.predictions, buffers_.scratch);
}

double PredictingReader::log_probability(std::uint32_t row, PieceId piece) {
  if (buffers_.is_beyond[row] != 0) return beyond_->log_probability(row, piece);
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
  if (buffers_.is_beyond[row] != 0) return beyond_->find_likely(row, wanted);
  constexpr double slack = 1e-3;  // for the comparison is made in floats; the search makes it again in doubles
  const std::span<const float> logits = buffers_.predictions.row(row).first(parts_.pieces.size());
  const float normaliser = buffers_.predictions.normalisers[row];
  const auto least = static_cast<float>(std::clamp(wanted.least + normaliser - slack, -1e30, 1e30));
  LikelyPieces& likely = buffers_.likely;
  // Where something is asked for already, few pieces are above it.
  const float guess = std::isinf(wanted.least) ? likely_least(logits, wanted.most) : no_bound;
  likely.reset(std::max(least, guess), wanted.most);
  offer_above(logits, wanted.choice);
  if (guess > least &&
      likely.found().size() < wanted.most) {  // the guess was too high, since not all pieces may be chosen
    likely.reset(least, wanted.most);
    offer_above(logits, wanted.choice);
  }
  for (LikelyPiece& each : likely.found()) each.value -= normaliser;
  return likely.found();
}

/// Offer all pieces above the least logit asked for that may be chosen.
void PredictingReader::offer_above(std::span<const float> logits, std::uint8_t choice) {
  constexpr std::size_t stride = 256;  // the threshold rises as pieces are found, so ask for few at a time
  const std::span<const std::uint8_t> choices = parts_.pieces.choices();
  LikelyPieces& likely = buffers_.likely;
  grow(buffers_.places, stride);
  for (std::size_t first = 0; first < logits.size(); first += stride) {
    const std::span<const float> values = logits.subspan(first, std::min(stride, logits.size() - first));
    const std::size_t found =
        model_.kernels().find_above(values.data(), values.size(), likely.least(), buffers_.places.data());
    for (std::size_t i = 0; i < found; ++i) {
      const std::size_t place = buffers_.places[i];
      const auto piece = static_cast<PieceId>(first + place);
      if ((choices[piece] & choice) != 0) likely.offer({piece, values[place]});
    }
  }
}

}  // namespace halfword
