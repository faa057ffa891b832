#include "rank/policy.h"

#include <algorithm>
#include <cmath>

namespace halfword {
namespace {

/// One of three values, by how many different queries go on from the prefix.
double by_queries(const Policy& policy, double distinct, double none, double few, double many) {
  if (distinct >= policy.many_queries) return many;
  return distinct == 0.0 ? none : few;
}

std::size_t beam_for(const Policy& policy, std::size_t beam, double distinct) {
  const double factor =
      by_queries(policy, distinct, policy.beam_factor_none, policy.beam_factor_few, policy.beam_factor_many);
  const auto wanted = static_cast<double>(beam) * factor;
  if (factor <= 1.0) return std::max<std::size_t>(1, static_cast<std::size_t>(std::ceil(wanted)));
  return std::max(beam, static_cast<std::size_t>(std::min(wanted, policy.widest_beam)));
}

}  // namespace

Effort effort_for(const Policy& policy, const SearchOptions& options, const PrefixFacts& facts, bool has_memory_alone,
                  bool wants_network) {
  const auto count = static_cast<double>(options.count);
  const bool alone = !wants_network && has_memory_alone;
  Effort effort{options, {static_cast<std::size_t>(policy.surplus_factor * count)}, !alone};
  effort.options.conditional = true;
  effort.options.min_probability = 0.0;
  if (!options.adapt) return effort;
  const double distinct = facts.longer_distinct;
  const bool knows_enough = distinct >= policy.many_queries || facts.longer_total > policy.enough_repeats * distinct;
  // Where the probability of the prefix is asked for, it must be that of the whole model.
  effort.with_network = !alone && !(knows_enough && has_memory_alone && options.conditional);
  effort.options.beam = beam_for(policy, options.beam, distinct);
  effort.options.haste = by_queries(policy, distinct, policy.haste_none, policy.haste_few, policy.haste_many);
  effort.limits.least = std::log(policy.search_min_probability);
  effort.limits.least_found = std::log(policy.search_least_found);
  if (effort.with_network) {
    effort.limits.network_least = std::log(policy.network_min_probability);
    // Few searches are that long, but one that takes twice as long as the others is one that a user waits for.
    const double limit = policy.read_limit_base + policy.read_limit_per_beam * static_cast<double>(options.beam);
    effort.limits.most_read = static_cast<std::size_t>(std::max(limit, 2.0 * count));
  }
  return effort;
}

}  // namespace halfword
