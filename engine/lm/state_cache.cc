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
  const std::size_t place = part.oldest;
  if (place == part.keys.size()) {
    part.keys.emplace_back();
  } else if (const auto old = part.rows.find(part.keys[place]); old != part.rows.end() && old->second == place) {
    part.rows.erase(old);
  }
  // The key comes last: if a copy throws for lack of memory, nobody finds a row without data.
  model.copy_row(states, row, part.states, place);
  part.predictions.copy_row(predictions, row, place);
  part.rows.emplace(key, place);
  part.keys[place] = key;
  part.oldest = (place + 1) % capacity_;
}

}  // namespace halfword
