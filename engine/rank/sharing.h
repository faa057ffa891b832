#pragma once

#include <span>
#include <string_view>
#include <vector>

#include "rank/belief.h"
#include "rank/features.h"
#include "rank/policy.h"
#include "rank/ranker.h"
#include "sources/other_order.h"
#include "sources/proposals.h"
#include "sources/session.h"

namespace halfword {

inline constexpr double never_believed = 1e9;  // of `counts_believed`: the ranker alone decides

/// Divide what the ranker gives to all known queries together among them, the more by their counts, the more often each
/// of them was typed: with n queries typed t times in all, by t / (t + n · `counts_believed`). A ranker that was fitted
/// to few rows is right about how much is new, but would put `student loan` (21) above `student id card` (88). With a
/// context nothing is changed: it tells more than counts do. Who has typed nothing asks for the most popular queries:
/// then counts decide alone, in every log.
void share_by_counts(std::string_view typed, const Proposals& proposals, std::span<const Features> features,
                     const Policy& policy, Chances& chances);

/// Add known queries of which one may be meant, though they do not go on from what the branch reads; the more often one
/// was typed, the likelier. They share with known ones that do, by how often each was typed. Of the rest, which is what
/// nobody typed and "none of these", they take a probability; that speaks for the reading.
void share_with_found(std::vector<FoundQuery> found, double log_probability, const Policy& policy,
                      const Session& session, Branch& branch);

}  // namespace halfword
