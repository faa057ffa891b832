#pragma once

#include <string_view>

#include "model_file.h"
#include "neural.h"
#include "popular.h"

namespace halfword {

/// Popularity as evidence, the language model as prior: p(q | p) = (C(q) + κ · p_model(q | p)) / (C(p) + κ), where C(q)
/// counts how often q was typed and C(p) all that begins with p. Candidates come from both sides.
class Blend {
 public:
  Blend(const ModelFile& file, const Popular& popular, const Neural& neural);

  SearchResult complete(std::string_view prefix, const SearchOptions& options) const;

  /// How many times a query must have been typed to weigh as much as the language model's whole opinion.
  double kappa() const { return kappa_; }

 private:
  const Popular& popular_;
  const Neural& neural_;
  double kappa_;
};

}  // namespace halfword
