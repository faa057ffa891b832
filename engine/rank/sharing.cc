#include "rank/sharing.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <utility>

namespace halfword {
namespace {

constexpr double most_taken = 1.0 - 1e-6;  // by known queries that do not go on, so that logarithms stay finite

}  // namespace

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

void share_with_found(std::vector<FoundQuery> found, double log_probability, const Policy& policy,
                      const Session& session, Branch& branch) {
  double total = 0.0;
  for (const FoundQuery& each : found) total += std::max(each.worth(), 0.0);
  if (!(total > 0.0)) return;
  std::vector<double>& scores = branch.chances.scores;
  const std::vector<Proposal>& list = branch.proposals.list();
  const std::size_t before = scores.size();
  double going_on = 0.0;  // times that they were typed
  double known = 0.0;     // the probability of those that go on
  double rest = std::exp(branch.chances.log_none);
  for (std::size_t place = 0; place < before; ++place) {
    going_on += std::max(list[place].count, 0.0);
    (list[place].count > 0.0 ? known : rest) += std::exp(scores[place]);
  }
  const double counted = policy.other_known_factor * total;
  const double of_known = counted / (counted + going_on);
  const double of_rest = of_known * std::exp(log_probability);
  double added = 0.0;
  for (FoundQuery& each : found) {
    if (each.count <= 0.0) continue;
    const std::size_t size = list.size();
    Proposal& proposal = branch.proposals.at(std::move(each.text));
    if (list.size() == size) continue;  // found in another way too
    proposal.count = each.count;
    proposal.matched = each.matched;
    const auto typed_before = std::count(session.queries().begin(), session.queries().end(), proposal.text);
    proposal.session.repeats = static_cast<double>(typed_before);
    branch.features.emplace_back();
    const double share = each.worth() / total;
    scores.push_back(std::log((known * of_known + rest * of_rest) * share));
    added += share;
  }
  const double left_of_known = std::log1p(-std::min(of_known * added, most_taken));
  const double left_of_rest = std::log1p(-std::min(of_rest * added, most_taken));
  branch.chances.log_none += left_of_rest;
  for (std::size_t place = 0; place < before; ++place) {
    scores[place] += list[place].count > 0.0 ? left_of_known : left_of_rest;
  }
}

}  // namespace halfword
