#pragma once

#include <span>

#include "rank/policy.h"
#include "readings/reading.h"
#include "request.h"
#include "sources/proposals.h"
#include "sources/session.h"
#include "store/live_state.h"

namespace halfword {

/// The readings of a request, with all that a source needs to answer it.
struct Question {
  const Reading& reading;             // as typed
  std::span<const Reading> readings;  // all of them, that one first
  const SearchOptions& options;
  const Policy& policy;
  const Deadline& deadline;
  const Session& session;
  const LiveState* live = nullptr;  // changes since the model was trained; null: none
  bool with_network = true;         // false: the memory alone is asked, if there is one
};

/// Proposes completions of the readings, with the evidence for them. Never changes once loaded, so one instance serves
/// every thread. Sources are asked one after the other; later ones see what earlier ones found out about the prefix.
class Source {
 public:
  Source() = default;
  Source(const Source&) = delete;
  Source& operator=(const Source&) = delete;
  virtual ~Source() = default;

  /// Add proposals, and facts about the prefix.
  virtual void propose(const Question& question, Proposals& proposals) const = 0;

  /// Add what this source knows about the proposals of all sources.
  virtual void annotate(const Question&, Proposals&) const {}
};

}  // namespace halfword
