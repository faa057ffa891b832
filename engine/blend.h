#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "completion.h"
#include "model_file.h"
#include "neural.h"
#include "popular.h"

namespace halfword {

/// How evidence and prior are weighed; fitted when a model is trained, and kept in its file.
struct BlendWeights {
  double discount = 0.8;    // δ: what a query's count loses, for chance had its part in it
  double breadth = 2.0;     // φ: what the model gains for every different query that was typed after the prefix
  double least = 1.0;       // κ: what it has at the least
  double shortness = 0.06;  // τ: what every character beyond the prefix costs, where anything was typed that begins so
};

/// A text with all that speaks for it.
struct Candidate {
  std::string text;
  double count;  // how often it was typed
  double score;  // log p_model(text | prefix)
  Source source;
};

/// The candidates for a prefix, and what is known of the prefix.
struct Candidates {
  std::vector<Candidate> list;
  double total;     // how often queries that begin with it were typed
  double distinct;  // how many different ones
  double mass;      // its log-probability by the model
  SearchResult cost;
};

/// Popularity as evidence, the language model as prior:
///
///     p(q | p) = (max(C(q) − δ, 0) + w(p) · p_model(q | p)) / (C(p) − δ N(p) + w(p))   with   w(p) = κ + φ N(p)
///
/// where C(q) counts how often q was typed, C(p) all that begins with p, p itself too, and N(p) the different queries
/// among them. Where N(p) > 0 that is multiplied by e^(−τ · characters of q beyond p).
/// Where many different things were typed, new ones are to be expected, and the model has more to say: interpolated
/// absolute discounting, over whole queries. Candidates come from both sides.
class Blend {
 public:
  Blend(const ModelFile& file, const Popular& popular, const Neural& neural);

  SearchResult complete(std::string_view prefix, const SearchOptions& options) const;

  /// What both sides propose, before it is weighed.
  Candidates candidates(std::string_view prefix, const SearchOptions& options) const;

  const BlendWeights& weights() const { return weights_; }

 private:
  const Popular& popular_;
  const Neural& neural_;
  BlendWeights weights_;
};

}  // namespace halfword
