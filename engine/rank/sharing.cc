#include "rank/sharing.h"

#include <cmath>
#include <cstddef>

namespace halfword {

void share_by_counts(std::string_view typed, const Proposals& proposals, std::span<const Features> features,
                     const Policy& policy, Chances& chances) {
  const PrefixFacts& facts = proposals.facts;
  const double needed = typed.empty() ? 0.0 : policy.counts_believed;
  if (features.empty() || facts.total <= 0.0 || needed >= never_believed) return;
  if (features.front()[static_cast<std::size_t>(Feature::session_size)] > 0.0F) return;
  const auto estimated = [&](std::size_t place) {
    return std::exp(static_cast<double>(features[place][static_cast<std::size_t>(Feature::estimate)]));
  };
  const std::vector<Proposal>& list = proposals.list();
  double ranked = 0.0;
  double counted = 0.0;
  for (std::size_t place = 0; place < features.size(); ++place) {
    if (list[place].count <= 0.0) continue;
    ranked += std::exp(chances.scores[place]);
    counted += estimated(place);
  }
  if (!(ranked > 0.0) || !(counted > 0.0)) return;
  const double by_counts = facts.total / (facts.total + facts.distinct * needed);
  for (std::size_t place = 0; place < features.size(); ++place) {
    if (list[place].count <= 0.0) continue;
    const double share = ranked * estimated(place) / counted;
    chances.scores[place] = std::log((1.0 - by_counts) * std::exp(chances.scores[place]) + by_counts * share);
  }
}

}  // namespace halfword
