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
  double breadth = 1.0;     // φ: what the model gains for every different query that was typed after the prefix
  double least = 1.0;       // κ: what it has at the least
  double shortness = 0.12;  // τ: what every character beyond the prefix costs, where many queries begin so
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
/// among them. Where many different things were typed, new ones are to be expected, and the model has more to say:
/// interpolated absolute discounting, over whole queries. All is multiplied by e^(−τ · N(p) / (N(p) + 3) · characters
/// of q beyond p), for models believe too much in long texts; where little was typed that costs more than it brings.
/// Candidates come from both sides.
class Blend {
 public:
  /// `memory` is the same model without its network, where it has both.
  Blend(const ModelFile& file, const Popular& popular, const Neural& neural, const Neural* memory);

  SearchResult complete(std::string_view prefix, const SearchOptions& options) const;

  /// What both sides propose, before it is weighed.
  Candidates candidates(std::string_view prefix, const SearchOptions& options) const;

  const BlendWeights& weights() const { return weights_; }

 private:
  const Popular& popular_;
  const Neural& neural_;
  const Neural* memory_;
  BlendWeights weights_;
};

}  // namespace halfword
