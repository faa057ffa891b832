#pragma once

#include "request.h"
#include "search/search.h"
#include "sources/proposals.h"

namespace halfword {

/// Which sources are asked, how hard the search works, and what is shown. Every number is stored in the model file
/// under the name it has here; the Python type of the same name explains each one and is the home of the defaults.
struct Policy {
  // How many different queries go on from the prefix decides how hard the search works: none, few or many.
  double many_queries{};
  double beam_factor_none{};
  double beam_factor_few{};
  double beam_factor_many{};
  double widest_beam{};
  double haste_none{};
  double haste_few{};
  double haste_many{};
  double read_limit_base{};
  double read_limit_per_beam{};
  // Whether the network is asked.
  double network_min_probability{};
  double search_min_probability{};
  double search_least_found{};
  double enough_repeats{};
  // The search, the other sources and their limits.
  double longest_searched{};
  double surplus_factor{};
  double known_surplus_factor{};
  double companions_most_queries{};
  double companions_half_trust{};
  double companions_most_words{};
  double companions_most_met{};
  double companions_end_hits{};
  double companions_end_trials{};
  double spellings_most_queries{};
  double spellings_most_alike{};
  double spellings_fewest_letters{};
  // What differs from the typed text in accents, signs or half a syllable.
  double folded_most_queries{};
  double folded_log_probability{};
  double unfolded_log_probability{};
  double composing_log_probability{};
  double folded_most_readings{};
  // Typing mistakes.
  double corrected_most_queries{};
  double corrected_edit_cost{};
  double corrected_fewest_letters{};
  double corrected_letters_for_two{};
  double corrected_word_band{};
  double corrected_rare{};
  double corrected_enough_score{};
  double corrected_near_words{};
  double corrected_beam{};
  double corrected_most_readings{};
  double corrected_band{};
  double corrected_more_odds{};
  double corrected_least_odds{};
  double corrected_most_completed{};
  double corrected_count{};
  double corrected_beam_factor{};
  double corrected_network{};
  double corrected_homophone_cost{};
  double corrected_word_slack{};
  double corrected_least_gain{};
  double corrected_unknown_count{};
  double corrected_new_words{};
  double corrected_most_steps{};
  // The typed words in another order.
  double reordered_most_queries{};
  double reordered_log_probability{};
  double reordered_most_checked{};
  double reordered_most_begun{};
  double reordered_count{};
  double reordered_fewest_characters{};
  double reordered_inflected{};
  double reordered_corrections{};
  double inside_most_queries{};
  double inside_fewest_typed{};
  double inside_fewest_ending{};
  double inside_fewest_before{};
  double inside_factor{};
  double abbreviated_fewest_typed{};
  double cut_least_share{};
  double cut_alone_least_share{};
  double other_known_factor{};
  // Chinese by its pinyin.
  double pinyin_most_queries{};
  double pinyin_log_probability{};
  double pinyin_fewest_characters{};
  double pinyin_count{};
  // What is shown.
  double page{};
  double length_penalty{};
  double min_probability{};
  double common_probability{};
  double invented_min_probability{};
  double odd_min_probability{};
  double odd_words_before{};
  double odd_ending{};
  double often_typed{};
  double often_typed_share{};
  double known_typed{};
  double new_after_whole{};
  double shown_once{};
  double counts_believed{};
};

/// How hard to search for one prefix.
struct Effort {
  SearchOptions options;
  SearchLimits limits;
  bool with_network;
};

/// The more different queries popularity knows that go on from the prefix, the less it matters what the search misses;
/// and where it knows many, or some that were typed again and again, the network has next to nothing to add.
Effort effort_for(const Policy& policy, const SearchOptions& options, const PrefixFacts& facts, bool has_memory_alone,
                  bool wants_network);

}  // namespace halfword
