#pragma once

#include "sources/source.h"
#include "store/popular.h"

namespace halfword {

/// Proposes the queries most typed that begin with the reading, and tells how often any proposal was typed.
class PopularSource : public Source {
 public:
  explicit PopularSource(const Popular& popular) : popular_(popular) {}

  void propose(const Question& question, Proposals& proposals) const override;
  void annotate(const Question& question, Proposals& proposals) const override;

 private:
  const Popular& popular_;
};

}  // namespace halfword
