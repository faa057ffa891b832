#pragma once

#include <array>
#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "rank/features.h"
#include "rank/policy.h"
#include "rank/ranker.h"
#include "readings/reading.h"
#include "sources/proposals.h"
#include "store/model_file.h"

namespace halfword {

/// What speaks for and against a correction; `search/reference_belief.py` explains each. Some are known only once the
/// correction has been completed, the others at a glance. New ones come last: older models give them no weight.
constexpr std::array<const char*, 24> belief_names{
    "one",        "cost",       "edits",      "spaces",      "gain",    "unseen",      "typed_total", "total",
    "characters", "known",      "known_gain", "word_gain",   "begun",   "typed_words", "after",       "model_gain",
    "none",       "typed_none", "letters",    "typed_count", "changed", "endings",     "others",      "typed_others"};
constexpr std::size_t first_completed = 15;  // of those that are known once it has been completed
constexpr std::size_t after_completed = 18;
using BeliefFeatures = std::array<double, belief_names.size()>;

/// A reading of the typed text, what the sources propose as if it had been typed, and what the ranker says of that.
struct Branch {
  Reading reading;
  Proposals proposals;
  std::vector<Features> features;
  Chances chances;  // of the proposals, given the reading
};

/// What is known of a correction at a glance; the other features are 0.
BeliefFeatures glance_at(std::string_view typed, const Reading& correction);

/// All features of a correction, beside the text as typed.
BeliefFeatures belief_features(const Branch& as_typed, const Branch& corrected);

/// Turns the features of a correction into the logarithm of its odds against the text as typed,
///
///     linear · x + output · softsign(hidden x + hidden_bias)      with x = (features − mean) / scale
class BeliefWeights {
 public:
  /// The arrays of a model file whose names begin so.
  BeliefWeights(const ModelFile& file, const std::string& part);

  double log_odds(const BeliefFeatures& features) const;

 private:
  std::size_t known_;  // features that have weights
  std::span<const float> mean_;
  std::span<const float> scale_;
  std::span<const float> linear_;
  std::span<const float> hidden_;  // by unit, then by feature
  std::span<const float> hidden_bias_;
  std::span<const float> output_;
};

/// How far each reading of a typed text is to be believed.
class Belief {
 public:
  explicit Belief(const ModelFile& file) : glance_(file, "glance"), belief_(file, "belief") {}

  /// The corrections that are likely enough at a glance to be completed, the likeliest first.
  std::vector<Reading> worth_completing(std::string_view typed, std::vector<Reading> corrections,
                                        const Policy& policy) const;

  /// The log-probabilities of all readings, as typed first: a softmax of their odds.
  std::vector<double> log_probabilities(std::span<const Branch> branches, const Policy& policy) const;

 private:
  BeliefWeights glance_;
  BeliefWeights belief_;
};

/// Put the proposals of all branches into the first one, the text as typed. The chances of what was proposed for
/// several readings are added up, and it belongs to that by which it is the likeliest; what goes on from the text as
/// typed stays with it.
void join_branches(std::vector<Branch>& branches, std::span<const double> beliefs);

}  // namespace halfword
