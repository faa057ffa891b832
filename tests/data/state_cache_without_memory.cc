// Copies of rows that can be made to fail, as they do when memory runs out; test_state_cache.py builds and runs this.

#include <cstdio>
#include <new>

#include "lm/state_cache.h"

namespace {
bool states_fail = false;
bool predictions_fail = false;
}  // namespace

namespace halfword {

void LanguageModel::copy_row(const ModelStates&, std::size_t, ModelStates&, std::size_t) const {
  if (states_fail) throw std::bad_alloc();
}

/// A row is one number here, and a copy that fails leaves it half overwritten.
void Predictions::copy_row(const Predictions& other, std::size_t from, std::size_t to) {
  if (normalisers.size() <= to) normalisers.resize(to + 1);
  normalisers[to] = -1.0F;
  if (predictions_fail) throw std::bad_alloc();
  normalisers[to] = other.normalisers[from];
}

}  // namespace halfword

int main() {
  using namespace halfword;
  alignas(LanguageModel) static std::byte storage[sizeof(LanguageModel)];
  const auto& model = *reinterpret_cast<const LanguageModel*>(storage);  // its functions above look at nothing in it
  StateCache cache(16);
  ModelStates states;
  Predictions given;
  Predictions taken;
  given.normalisers.resize(1);
  taken.normalisers.resize(1);
  int found = 0;
  for (PieceId number = 0; number < 1000; ++number) {
    states_fail = number % 3 == 1;
    predictions_fail = number % 3 == 2;
    given.normalisers[0] = static_cast<float>(number);
    try {
      cache.insert(model, SequenceKey().then(number), states, given, 0);
    } catch (const std::bad_alloc&) {
    }
    states_fail = predictions_fail = false;
    for (PieceId asked = 0; asked <= number; ++asked) {
      if (!cache.find(model, SequenceKey().then(asked), states, taken, 0)) continue;
      ++found;
      if (taken.normalisers[0] != static_cast<float>(asked)) {
        std::printf("the row of %u is that of %g\n", asked, taken.normalisers[0]);
        return 1;
      }
    }
  }
  std::printf("%d found\n", found);
  return found > 1000 ? 0 : 1;
}
