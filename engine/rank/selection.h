#pragma once

#include <span>
#include <vector>

#include "rank/features.h"
#include "rank/policy.h"
#include "request.h"
#include "sources/companions.h"
#include "sources/proposals.h"
#include "store/lexicon.h"

namespace halfword {

/// Ranked proposals of one request.
struct Ranked {
  const Request& request;
  Proposals& proposals;
  std::span<const Features> features;
  std::span<const double> scores;  // log-probabilities
  const LiveState* live = nullptr;
  const Companions* companions = nullptr;  // which words go together; null: not known
};

/// What is shown of ranked proposals, best first: those that are likely enough, as many as fit on a page or are asked
/// for. A text with an invented word must be likelier than others, and so must one that reads oddly; of near-duplicates
/// the likelier is shown, and the other only if it was often typed itself, or if nothing is too unlikely (a least
/// probability of 0).
std::vector<Completion> select(const Ranked& ranked, const Policy& policy, const Lexicon& words);

}  // namespace halfword
