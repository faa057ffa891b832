#include "lm/state_cache.h"

namespace halfword {

bool StateCache::find(const LanguageModel& model, const SequenceKey& key, ModelStates& states, Predictions& predictions,
                      std::size_t row) {
  if (!enabled()) return false;
  Part& part = part_of(key);
  const std::scoped_lock lock(part.mutex);
  const auto found = part.rows.find(key);
  if (found == part.rows.end()) return false;
  model.copy_row(part.states, found->second, states, row);
  predictions.copy_row(part.predictions, found->second, row);
  return true;
}

void StateCache::insert(const LanguageModel& model, const SequenceKey& key, const ModelStates& states,
                        const Predictions& predictions, std::size_t row) {
  if (!enabled()) return;
  Part& part = part_of(key);
  const std::scoped_lock lock(part.mutex);
  if (part.rows.contains(key)) return;
  if (part.keys.size() < capacity_) {
    part.keys.emplace_back();
  } else {
    part.rows.erase(part.keys[part.oldest]);
  }
  const std::size_t place = part.oldest;
  part.oldest = (place + 1) % capacity_;
  part.keys[place] = key;
  part.rows.emplace(key, place);
  model.copy_row(states, row, part.states, place);
  part.predictions.copy_row(predictions, row, place);
}

}  // namespace halfword
