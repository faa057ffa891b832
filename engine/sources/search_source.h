#pragma once

#include "search/model_search.h"
#include "sources/source.h"

namespace halfword {

/// Proposes what the language model finds, also queries that nobody has typed before.
class SearchSource : public Source {
 public:
  /// `without_network` is the same model without its network, where it has both a network and a memory.
  SearchSource(const ModelSearch& model, const ModelSearch* without_network)
      : model_(model), without_network_(without_network) {}

  void propose(const Question& question, Proposals& proposals) const override;

 private:
  const ModelSearch& model_;
  const ModelSearch* without_network_;
};

}  // namespace halfword
