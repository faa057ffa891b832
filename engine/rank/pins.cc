#include "rank/pins.h"

#include <algorithm>
#include <utility>

namespace halfword {

std::vector<Pin> pins_for(const LiveState* live, std::string_view typed) {
  if (live == nullptr || !live->pins) return {};
  const auto found = live->pins->find(typed);
  if (found == live->pins->end()) return {};
  std::vector<Pin> pins = found->second;
  std::erase_if(pins, [&](const Pin& pin) { return live->removes(pin.text); });
  return pins;
}

void propose_pins(std::span<const Pin> pins, std::string_view typed, Proposals& proposals) {
  for (const Pin& pin : pins) {
    if (pin.text.starts_with(typed)) {
      proposals.at(pin.text);
    } else {
      proposals.at(pin.text, 0.0, std::min(pin.text.size(), typed.size()));
    }
  }
}

void put_pins(std::vector<PinnedCompletion> pinned, std::size_t count, std::vector<Completion>& completions) {
  for (const PinnedCompletion& each : pinned) {
    std::erase_if(completions, [&](const Completion& other) { return other.text == each.completion.text; });
  }
  for (PinnedCompletion& each : pinned) {  // by position, so that none moves another
    const std::size_t place = std::min(each.position - 1, completions.size());
    completions.insert(completions.begin() + static_cast<std::ptrdiff_t>(place), std::move(each.completion));
  }
  if (completions.size() > count) completions.resize(count);
}

}  // namespace halfword
