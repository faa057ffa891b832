#pragma once

#include "sources/source.h"
#include "store/popular.h"

namespace halfword {

/// Proposes what can be copied from the session's earlier queries, and tells what they say about any proposal.
class SessionSource : public Source {
 public:
  explicit SessionSource(const Popular& popular) : popular_(popular) {}

  /// Propose
  /// - earlier queries that go on from the reading, and what others typed that goes on from such a query;
  /// - the reading's whole words with the end of an earlier query, from a word on that goes on from the one begun, and
  ///   with that word alone;
  /// - the whole reading with an end of the last query.
  void propose(const Question& question, Proposals& proposals) const override;
  void annotate(const Question& question, Proposals& proposals) const override;

 private:
  void propose_extensions(const Question& question, Proposals& proposals) const;

  const Popular& popular_;
};

}  // namespace halfword
