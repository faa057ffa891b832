#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "sources/companions.h"
#include "search/completion.h"
#include "store/model_file.h"
#include "lm/neural.h"
#include "store/popular.h"
#include "sources/spellings.h"

namespace halfword {

/// How evidence and prior are weighed; fitted when a model is trained, and kept in its file.
struct BlendWeights {
  double discount;   // δ: what a query's count loses, for chance had its part in it
  double breadth;    // φ: what the model gains with the number of different queries that were typed after the prefix
  double least;      // κ: what it has at the least
  double shortness;  // τ: what every character beyond the prefix costs, where many queries begin so
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
///     p(q | p) = (max(C(q) − δ, 0) + w(p) · p_model(q | p)) / (C(p) − δ N(p) + w(p))   with   w(p) = κ + φ N(p)^¾
///
/// where C(q) counts how often q was typed, C(p) all that begins with p, p itself too, and N(p) the different queries
/// among them. Where many different things were typed, new ones are to be expected, and the model has more to say:
/// interpolated absolute discounting, over whole queries. All is multiplied by e^(−τ · N(p) / (N(p) + 3) · characters
/// of q beyond p), for models believe too much in long texts; where little was typed that costs more than it brings.
/// Candidates come from both sides. Where nobody typed anything that goes on from p, words that were typed together
/// with those of p have a share in p_model; where few did, what was typed in another spelling has one.
///
/// There are two sets of weights. Which ten (or as many as are asked for, if more) are shown is one question: a query
/// is typed key by key, so a long one is looked for at many prefixes, and should be among them early. In which order
/// they are shown, best first, is another: a short beginning may well come before all that goes on from it. What is
/// told as an answer's probability is that of the order.
class Blend {
 public:
  /// `memory` is the same model without its network, where it has both.
  Blend(const ModelFile& file, const Popular& popular, const Neural& neural, const Neural* memory);

  SearchResult complete(std::string_view prefix, const SearchOptions& options) const;

  /// What both sides propose, before it is weighed.
  Candidates candidates(std::string_view prefix, const SearchOptions& options) const;

 private:
  const Popular& popular_;
  const Neural& neural_;
  const Neural* memory_;
  std::optional<Companions> companions_;
  std::optional<Spellings> spellings_;
  BlendWeights order_{0.8, 3.0, 1.0, 0.12};   // in which order the answers are shown
  BlendWeights choice_{0.8, 2.0, 1.0, 0.06};  // which ones are
};

}  // namespace halfword
