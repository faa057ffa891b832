#include "store/word_counts.h"

#include <algorithm>
#include <cmath>

#include "store/word_filter.h"

namespace halfword {
namespace {

constexpr double steps = 10.0;  // per nat
constexpr std::uint32_t most_step = 255;
constexpr std::size_t most_probes = 64;  // slots that are looked at for a word, so that a damaged table takes no longer
constexpr std::uint32_t mark_bits = 0xFFFF;
constexpr int typed_shift = 16;
constexpr int ended_shift = 24;

std::uint32_t mark_of(std::uint64_t hash) { return static_cast<std::uint32_t>(hash >> 48); }

std::uint32_t step_of(std::uint64_t count) {
  if (count == 0) return 0;
  const double step = 1.0 + std::floor(steps * std::log(static_cast<double>(count)) + 0.5);
  return static_cast<std::uint32_t>(std::min(step, static_cast<double>(most_step)));
}

double value_of(std::uint32_t step) { return step == 0 ? 0.0 : 1.0 + (static_cast<double>(step) - 1.0) / steps; }

std::uint32_t typed_in(std::uint32_t slot) { return slot >> typed_shift & most_step; }

}  // namespace

std::vector<std::uint32_t> build_word_counts(std::span<const CountedWord> words) {
  std::vector<std::uint32_t> slots(words.size() + words.size() / 4 + 1);
  for (const CountedWord& each : words) {
    if (each.typed == 0) continue;
    const std::uint64_t hash = hash_of_word(each.word);
    std::size_t place = hash % slots.size();
    for (std::size_t probe = 0; probe < std::min(most_probes, slots.size()); ++probe) {
      if (typed_in(slots[place]) == 0) {
        slots[place] = mark_of(hash) | step_of(each.typed) << typed_shift | step_of(each.ended) << ended_shift;
        break;  // a word for which no slot is found counts as typed once
      }
      place = (place + 1) % slots.size();
    }
  }
  return slots;
}

WordCounts::WordCounts(const ModelFile& file, const std::string& name) : slots_(file.array<std::uint32_t>(name)) {
  if (slots_.empty()) throw ModelFileError("the table " + name + " is empty");
}

WordCount WordCounts::find(std::string_view word) const {
  const std::uint64_t hash = hash_of_word(word);
  std::size_t place = hash % slots_.size();
  for (std::size_t probe = 0; probe < std::min(most_probes, slots_.size()); ++probe) {
    const std::uint32_t slot = slots_[place];
    if (typed_in(slot) == 0) break;
    if ((slot & mark_bits) == mark_of(hash)) return {value_of(typed_in(slot)), value_of(slot >> ended_shift)};
    if (++place == slots_.size()) place = 0;
  }
  return {1.0, 0.0};
}

}  // namespace halfword
