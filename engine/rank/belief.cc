#include "rank/belief.h"

#include <algorithm>
#include <cmath>
#include <string>
#include <utility>

#include "rank/features.h"
#include "rank/weights.h"
#include "search/finished.h"
#include "sort.h"

namespace halfword {
namespace {

constexpr double most_gain = 20.0;  // beyond it differences mean nothing

double limited(double gain) { return std::clamp(gain, -most_gain, most_gain); }

}  // namespace

BeliefFeatures glance_at(std::string_view typed, const Reading& correction) {
  return {1.0,
          -correction.log_probability,
          correction.edits,
          correction.spaces,
          limited(correction.gain),
          correction.typed_total == 0.0 ? 1.0 : 0.0,
          std::log1p(correction.typed_total),
          std::log1p(correction.total),
          std::log1p(characters_from(typed, 0)),
          correction.known,
          limited(correction.known_gain),
          limited(correction.word_gain),
          correction.begun,
          static_cast<double>(std::count(typed.begin(), typed.end(), ' ')),
          std::log1p(correction.after),
          0.0,
          0.0,
          0.0,
          std::log1p(correction.letters),
          correction.typed_count,
          std::log1p(correction.changed),
          correction.endings,
          correction.others,
          correction.typed_others};
}

BeliefFeatures belief_features(const Branch& as_typed, const Branch& corrected) {
  BeliefFeatures features = glance_at(as_typed.reading.text, corrected.reading);
  const PrefixFacts& before = as_typed.proposals.facts;
  const PrefixFacts& facts = corrected.proposals.facts;
  features[first_completed] = limited(facts.log_probability - before.log_probability);
  features[first_completed + 1] = std::max(corrected.chances.log_none, -most_gain);
  features[first_completed + 2] = std::max(as_typed.chances.log_none, -most_gain);
  return features;
}

BeliefWeights::BeliefWeights(const ModelFile& file, const std::string& part) {
  known_ = std::min(file.array<float>(part + ".mean").size(), belief_names.size());
  if (known_ < after_completed) throw ModelFileError(part + ".mean makes no sense");
  const std::size_t units = file.array<float>(part + ".output").size();
  if (units > most_hidden) throw ModelFileError(part + " has too many hidden units");
  mean_ = read_weights(file, part + ".mean", known_);
  scale_ = read_weights(file, part + ".scale", known_);
  linear_ = read_weights(file, part + ".linear", known_);
  hidden_ = read_weights(file, part + ".hidden", units * known_);
  hidden_bias_ = read_weights(file, part + ".hidden_bias", units);
  output_ = read_weights(file, part + ".output", units);
  const auto positive = [](float value) { return value >= 1e-6F; };
  if (!std::all_of(scale_.begin(), scale_.end(), positive)) throw ModelFileError(part + ".scale makes no sense");
}

double BeliefWeights::log_odds(const BeliefFeatures& features) const {
  BeliefFeatures scaled{};
  double odds = 0.0;
  for (std::size_t i = 0; i < known_; ++i) {
    scaled[i] = (features[i] - mean_[i]) / scale_[i];
    odds += linear_[i] * scaled[i];
  }
  for (std::size_t unit = 0; unit < output_.size(); ++unit) {
    double sum = hidden_bias_[unit];
    for (std::size_t i = 0; i < known_; ++i) sum += hidden_[unit * known_ + i] * scaled[i];
    odds += output_[unit] * sum / (1.0 + std::abs(sum));
  }
  return odds;
}

std::vector<Reading> Belief::worth_completing(std::string_view typed, std::vector<Reading> corrections,
                                              const Policy& policy) const {
  std::vector<std::pair<double, std::size_t>> order;
  for (std::size_t i = 0; i < corrections.size(); ++i) {
    const double odds = glance_.log_odds(glance_at(typed, corrections[i])) + policy.corrected_more_odds;
    if (odds >= policy.corrected_least_odds) order.emplace_back(-odds, i);
  }
  sort_list(order);
  order.resize(std::min(order.size(), static_cast<std::size_t>(policy.corrected_most_completed)));
  std::vector<Reading> worth;
  for (const auto& [odds, place] : order) worth.push_back(std::move(corrections[place]));
  return worth;
}

std::vector<double> Belief::log_probabilities(std::span<const Branch> branches, const Policy& policy) const {
  std::vector<double> odds{0.0};
  for (const Branch& each : branches.subspan(1)) {
    odds.push_back(belief_.log_odds(belief_features(branches.front(), each)) + policy.corrected_more_odds);
  }
  const double peak = *std::max_element(odds.begin(), odds.end());
  double sum = 0.0;
  for (const double each : odds) sum += std::exp(each - peak);
  for (double& each : odds) each -= peak + std::log(sum);
  return odds;
}

void join_branches(std::vector<Branch>& branches, std::span<const double> beliefs) {
  Branch& joined = branches.front();
  std::vector<double>& scores = joined.chances.scores;
  PrefixFacts& facts = joined.proposals.facts;
  for (double& score : scores) score += beliefs.front();
  std::vector<double> likeliest = scores;  // by one reading
  for (std::size_t number = 1; number < branches.size(); ++number) {
    Branch& branch = branches[number];
    facts.add_cost(branch.proposals.facts);
    for (std::size_t i = 0; i < branch.features.size(); ++i) {
      Proposal& each = branch.proposals.list()[i];
      if (each.text.starts_with(joined.reading.text)) continue;
      const double score = branch.chances.scores[i] + beliefs[number];
      const std::size_t before = scores.size();
      Proposal& place = joined.proposals.at(each.text);
      const auto at = static_cast<std::size_t>(&place - joined.proposals.list().data());
      if (at < before) {
        scores[at] = log_add(scores[at], score);
        if (likeliest[at] >= score) continue;
      } else {
        scores.push_back(score);
        likeliest.push_back(score);
        joined.features.emplace_back();
      }
      likeliest[at] = score;
      joined.features[at] = branch.features[i];
      place = std::move(each);
      place.branch = number;
    }
  }
}

}  // namespace halfword
