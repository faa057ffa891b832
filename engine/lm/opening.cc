#include "lm/opening.h"

namespace halfword {

Opening::Opening(const LanguageModel& model, const Pieces& pieces, std::size_t most_predictions)
    : rows_(pieces.size(), no_row) {
  ModelScratch scratch;
  ModelStates nothing;
  model.start(nothing);
  const Step begin{0, pieces.begin()};
  model.step(nothing, {&begin, 1}, begin_, 0, scratch);
  model.predict(begin_, 0, 1, prediction_, scratch);
  std::vector<Step> steps;
  for (PieceId piece = 0; piece < pieces.size(); ++piece) {
    if (!pieces.begins_word(piece) || most_predictions == 0) continue;
    rows_[piece] = static_cast<std::uint32_t>(steps.size());
    steps.push_back({0, piece});
  }
  constexpr std::size_t chunk = 12;  // rows at a time, so that intermediate results stay in the cache
  for (std::size_t first = 0; first < steps.size(); first += chunk) {
    const std::size_t count = std::min(chunk, steps.size() - first);
    model.step(begin_, std::span(steps).subspan(first, count), first_, first, scratch);
    if (steps.size() * pieces.size() <= most_predictions) {
      model.predict(first_, first, count, first_predictions_, scratch);
    }
  }
}

}  // namespace halfword
