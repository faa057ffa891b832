#pragma once

#include <cstddef>
#include <span>
#include <string_view>
#include <vector>

#include "completion.h"
#include "sources/proposals.h"
#include "store/live_state.h"

namespace halfword {

/// A completion that is shown at a position, counted from 1.
struct PinnedCompletion {
  Completion completion;
  std::size_t position;
};

/// The texts pinned for a typed text, without those that are removed.
std::vector<Pin> pins_for(const LiveState* live, std::string_view typed);

/// Propose pinned texts, so that they are ranked like others.
void propose_pins(std::span<const Pin> pins, std::string_view typed, Proposals& proposals);

/// Put pinned completions at their positions; the others keep their order, and those beyond `count` are dropped.
void put_pins(std::vector<PinnedCompletion> pinned, std::size_t count, std::vector<Completion>& completions);

}  // namespace halfword
