#pragma once

#include <string_view>
#include <vector>

#include "sources/source.h"
#include "store/folded.h"
#include "store/popular.h"

namespace halfword {

/// Proposes the queries most typed that begin with a reading, and those that begin with it once both are folded; tells
/// how often any proposal was typed.
class PopularSource : public Source {
 public:
  /// `folded` is null where no query of the log is changed by folding.
  PopularSource(const Popular& popular, const FoldedQueries* folded) : popular_(popular), folded_(folded) {}

  void propose(const Question& question, Proposals& proposals) const override;
  void annotate(const Question& question, Proposals& proposals) const override;

 private:
  /// A query that does not begin with the text as typed.
  struct Other {
    TypedQuery query;
    double log_reading;
    std::size_t matched;
    double weight;  // its count times the probability of the reading
  };

  void propose_as_typed(const Question& question, Proposals& proposals) const;
  std::vector<Other> others(const Question& question) const;
  void add_folded(const Question& question, const Reading& reading, std::vector<Other>& found) const;

  const Popular& popular_;
  const FoldedQueries* folded_;
};

}  // namespace halfword
