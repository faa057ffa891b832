#pragma once

#include <array>
#include <cstddef>
#include <string_view>
#include <vector>

#include "sources/proposals.h"
#include "store/lexicon.h"

namespace halfword {

/// What the ranker looks at. The first ones are of the prefix, the others of a proposal; `search/reference_ranker.py`
/// explains them. New ones come last: a file whose ranker knows fewer is read as if it gave the others no weight.
enum class Feature : std::size_t {
  log_distinct,
  log_total,
  after_space,
  typed_words,
  typed_characters,
  estimate,
  model_score,
  searched,
  log_count,
  log_share,
  typed,
  typed_once,
  added_characters,
  added_words,
  breadth_of_added,
  unseen_words,
  log_companions,
  log_spellings,
  invented_words,
  session_size,
  session_typed_words,
  session_goes_on,
  session_repeat,
  session_repeat_recency,
  session_log_repeats,
  session_copied_words,
  session_new_words,
  session_word_recency,
  session_word_agreement,
  session_begun_characters,
  session_follows,
  session_tail,
  session_extends,
  session_overlap,
  session_overlap_with_last,
  session_shared_start,
  folded,
  least_typed,
  last_ended,
};

constexpr std::size_t prefix_features = 5;
constexpr std::array<const char*, 39> feature_names{"log_distinct",
                                                    "log_total",
                                                    "after_space",
                                                    "typed_words",
                                                    "typed_characters",
                                                    "estimate",
                                                    "model_score",
                                                    "searched",
                                                    "log_count",
                                                    "log_share",
                                                    "typed",
                                                    "typed_once",
                                                    "added_characters",
                                                    "added_words",
                                                    "breadth_of_added",
                                                    "unseen_words",
                                                    "log_companions",
                                                    "log_spellings",
                                                    "invented_words",
                                                    "session_size",
                                                    "session_typed_words",
                                                    "session_goes_on",
                                                    "session_repeat",
                                                    "session_repeat_recency",
                                                    "session_log_repeats",
                                                    "session_copied_words",
                                                    "session_new_words",
                                                    "session_word_recency",
                                                    "session_word_agreement",
                                                    "session_begun_characters",
                                                    "session_follows",
                                                    "session_tail",
                                                    "session_extends",
                                                    "session_overlap",
                                                    "session_overlap_with_last",
                                                    "session_shared_start",
                                                    "folded",
                                                    "least_typed",
                                                    "last_ended"};
using Features = std::array<float, feature_names.size()>;

/// How the sources' opinions become one first estimate (see `search/reference_ranker.py`); fitted, and kept in the
/// model file.
struct Mixture {
  double discount;    // what a query's count loses, since chance had its part in it
  double breadth;     // what the models gain with the number of different queries typed after the prefix,
  double growth;      // to this power
  double least;       // what they have at least
  double companions;  // their share among the models
  double spellings;
};

/// How many characters a text has, of which only the bytes from `begin` on count.
double characters_from(std::string_view text, std::size_t begin);

/// The features of every proposal for a prefix, in the order of the proposals.
std::vector<Features> features_of(std::string_view prefix, const Proposals& proposals, const Mixture& mixture,
                                  const Lexicon& words, const LiveFlags* live_words = nullptr);

}  // namespace halfword
