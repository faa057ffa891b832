#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "rank/features.h"
#include "store/lexicon.h"
#include "store/model_file.h"

namespace halfword {

/// The log-probabilities of all proposals for a prefix, and of none of them.
struct Chances {
  std::vector<double> scores;
  double log_none = 0.0;
};

/// Turns the features of all proposals for a prefix into one probability each.
///
///     x = (features − mean) / scale
///     z = linear · x + output · softsign(hidden x + hidden_bias)      with softsign(t) = t / (1 + |t|)
///
/// and the probabilities are a softmax over the z of all proposals and the z of "none of these", which is linear in the
/// features of the prefix. So they are probabilities, and sum to less than one.
class RankerWeights {
 public:
  /// The arrays of a model file whose names begin so.
  RankerWeights(const ModelFile& file, const std::string& part);

  Chances chances(std::span<const Features> features) const;

 private:
  /// The sums of hidden units and the linear part, as far as they are added up.
  struct Sums {
    std::vector<float> hidden;
    float linear = 0.0F;
  };

  void add(std::span<const std::size_t> which, const Features& features, Sums& sums) const;
  double worth_of(Sums& sums) const;
  double worth_of_none(const Features& features) const;

  std::span<const float> mean_;  // of the features that this ranker knows, which may be fewer than there are
  std::span<const float> scale_;
  std::span<const float> linear_;
  std::vector<float> hidden_;  // one row per feature, so that all hidden units are summed up side by side
  std::span<const float> hidden_bias_;
  std::span<const float> output_;
  std::span<const float> none_;  // by prefix feature, then a bias
};

/// Turns the evidence for all proposals into one probability each. Requests with a context have weights of their own,
/// so what is learned from sessions changes nothing for requests without one.
class Ranker {
 public:
  explicit Ranker(const ModelFile& file);

  /// The features of the proposals for a prefix, one row per proposal.
  std::vector<Features> features(std::string_view prefix, const Proposals& proposals,
                                 const LiveFlags* live_words = nullptr) const {
    return features_of(prefix, proposals, mixture_, words_, live_words);
  }

  const Lexicon& words() const { return words_; }

  Chances chances(std::span<const Features> features) const;

 private:
  Mixture mixture_;
  Lexicon words_;
  RankerWeights alone_;
  std::optional<RankerWeights> in_session_;  // the same as alone if a model has none
};

}  // namespace halfword
