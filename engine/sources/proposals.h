#pragma once

#include <cstdint>
#include <limits>
#include <string>
#include <string_view>
#include <vector>

#include "readings/reading.h"
#include "request.h"

namespace halfword {

/// What the session's earlier queries say about a proposal; all 0 without a session. The words added are those of the
/// proposal from the one on that is being typed; `search/reference_session.py` explains the numbers.
struct SessionEvidence {
  double repeats = 0.0;            // earlier queries that are this text
  double repeat_recency = 0.0;     // 1 for the last query, 1/2 for the one before, and so on
  double copied_words = 0.0;       // words added that an earlier query holds
  double new_words = 0.0;          // words added that none holds
  double word_recency = 0.0;       // of the first word added
  double word_agreement = 0.0;     // earlier queries that hold it
  double follows = 0.0;            // whether it follows the word before it in an earlier query
  double tail = 0.0;               // whether an earlier query ends with the words added
  double extends_recency = 0.0;    // of an earlier query that the text begins with and goes on from
  double overlap = 0.0;            // largest share of words in common with one earlier query
  double overlap_with_last = 0.0;  // the same with the last one
  double shared_start = 0.0;       // share of the characters added that an earlier query has at the same place
};

/// A proposed completion and what speaks for it.
struct Proposal {
  std::string text;
  double count = 0.0;                                             // how often it was typed
  double since = 0.0;                                             // how much of that was added after the training
  double model_score = -std::numeric_limits<double>::infinity();  // log p(text | reading) by the language model
  double companions = 0.0;                                        // its probability by words typed together
  double spellings = 0.0;                                         // and by other spellings of typed queries
  bool searched = false;                                          // the language model's search found it
  bool copied = false;                                            // the session source proposed it
  SessionEvidence session;
  double log_reading = 0.0;  // log p(typed | the reading it was found by)
  std::size_t matched = 0;   // its bytes that stand for the typed text
  std::size_t branch = 0;    // the correction it goes on from, from 1 on; 0 if it goes on from what was typed
};

/// What is known of the prefix.
struct PrefixFacts {
  double total = 0.0;         // how often queries that begin with it were typed
  double distinct = 0.0;      // how many different ones there are
  double since = 0.0;         // how much of the total was added after the training
  double longer_total = 0.0;  // total and distinct without the prefix itself
  double longer_distinct = 0.0;
  std::size_t first = 0;          // where those queries begin in the popularity index
  std::size_t last = 0;           // and where they end
  bool all_listed = false;        // all of them are among the proposals
  double log_probability = 0.0;   // of the prefix, by the language model
  double session_size = 0.0;      // earlier queries of the session
  double session_words = 0.0;     // whole words of the prefix that they hold
  double session_recency = 0.0;   // of an earlier query that goes on from the prefix
  double begun_characters = 0.0;  // bytes of the word that is being typed; 0 without a session
  bool timed_out = false;
  Cost cost;
};

/// A correction of what was typed, and what is known of it as a prefix.
struct Branch {
  Reading reading;
  PrefixFacts facts;
};

/// The proposals of all sources for one request, each text once.
class Proposals {
 public:
  /// The proposal with this text, which is added if there is none yet. It goes on from the text as typed.
  Proposal& at(std::string text);

  /// The same for a text that was found by another reading, which stands for its first bytes. The likeliest reading
  /// counts, and a text that goes on from what was typed was found as typed.
  Proposal& at(std::string text, double log_reading, std::size_t matched);

  /// Drop the proposals that `unwanted` holds of.
  template <typename Unwanted>
  void remove_if(const Unwanted& unwanted) {
    if (std::erase_if(list_, unwanted) > 0) rehash(slots_.size());
  }

  /// Add what was proposed for a correction of the typed text. What goes on from the typed text is left out, and a text
  /// that is there already stays as it is.
  void add_branch(const Reading& correction, Proposals proposed, std::string_view typed);

  /// What is known of the prefix that a proposal goes on from.
  const PrefixFacts& facts_of(const Proposal& proposal) const {
    return proposal.branch == 0 ? facts : branches[proposal.branch - 1].facts;
  }

  std::vector<Proposal>& list() { return list_; }
  const std::vector<Proposal>& list() const { return list_; }

  PrefixFacts facts;
  std::vector<Branch> branches;

 private:
  void rehash(std::size_t slots);
  std::size_t slot_of(std::string_view text) const;

  std::vector<Proposal> list_;
  std::vector<std::uint32_t> slots_;  // a hash table of positions in `list_`, plus one; 0 for an empty slot
};

}  // namespace halfword
