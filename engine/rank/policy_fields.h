#pragma once

#include <array>

#include "rank/policy.h"

namespace halfword {

/// A number of the policy: the name it has in the model file, and where it lies.
struct PolicyField {
  const char* name;
  double Policy::* value;
};

/// All of them; the bindings set them by name.
inline constexpr std::array policy_fields{
    PolicyField{"many_queries", &Policy::many_queries},
    PolicyField{"beam_factor_none", &Policy::beam_factor_none},
    PolicyField{"beam_factor_few", &Policy::beam_factor_few},
    PolicyField{"beam_factor_many", &Policy::beam_factor_many},
    PolicyField{"widest_beam", &Policy::widest_beam},
    PolicyField{"haste_none", &Policy::haste_none},
    PolicyField{"haste_few", &Policy::haste_few},
    PolicyField{"haste_many", &Policy::haste_many},
    PolicyField{"read_limit_base", &Policy::read_limit_base},
    PolicyField{"read_limit_per_beam", &Policy::read_limit_per_beam},
    PolicyField{"network_min_probability", &Policy::network_min_probability},
    PolicyField{"search_min_probability", &Policy::search_min_probability},
    PolicyField{"search_least_found", &Policy::search_least_found},
    PolicyField{"enough_repeats", &Policy::enough_repeats},
    PolicyField{"longest_searched", &Policy::longest_searched},
    PolicyField{"surplus_factor", &Policy::surplus_factor},
    PolicyField{"known_surplus_factor", &Policy::known_surplus_factor},
    PolicyField{"companions_most_queries", &Policy::companions_most_queries},
    PolicyField{"companions_half_trust", &Policy::companions_half_trust},
    PolicyField{"companions_most_words", &Policy::companions_most_words},
    PolicyField{"companions_most_met", &Policy::companions_most_met},
    PolicyField{"companions_end_hits", &Policy::companions_end_hits},
    PolicyField{"companions_end_trials", &Policy::companions_end_trials},
    PolicyField{"spellings_most_queries", &Policy::spellings_most_queries},
    PolicyField{"spellings_most_alike", &Policy::spellings_most_alike},
    PolicyField{"spellings_fewest_letters", &Policy::spellings_fewest_letters},
    PolicyField{"folded_most_queries", &Policy::folded_most_queries},
    PolicyField{"folded_log_probability", &Policy::folded_log_probability},
    PolicyField{"unfolded_log_probability", &Policy::unfolded_log_probability},
    PolicyField{"composing_log_probability", &Policy::composing_log_probability},
    PolicyField{"folded_most_readings", &Policy::folded_most_readings},
    PolicyField{"corrected_most_queries", &Policy::corrected_most_queries},
    PolicyField{"corrected_edit_cost", &Policy::corrected_edit_cost},
    PolicyField{"corrected_fewest_letters", &Policy::corrected_fewest_letters},
    PolicyField{"corrected_letters_for_two", &Policy::corrected_letters_for_two},
    PolicyField{"corrected_word_band", &Policy::corrected_word_band},
    PolicyField{"corrected_rare", &Policy::corrected_rare},
    PolicyField{"corrected_enough_score", &Policy::corrected_enough_score},
    PolicyField{"corrected_near_words", &Policy::corrected_near_words},
    PolicyField{"corrected_beam", &Policy::corrected_beam},
    PolicyField{"corrected_most_readings", &Policy::corrected_most_readings},
    PolicyField{"corrected_band", &Policy::corrected_band},
    PolicyField{"corrected_more_odds", &Policy::corrected_more_odds},
    PolicyField{"corrected_least_odds", &Policy::corrected_least_odds},
    PolicyField{"corrected_most_completed", &Policy::corrected_most_completed},
    PolicyField{"corrected_count", &Policy::corrected_count},
    PolicyField{"corrected_beam_factor", &Policy::corrected_beam_factor},
    PolicyField{"corrected_network", &Policy::corrected_network},
    PolicyField{"corrected_homophone_cost", &Policy::corrected_homophone_cost},
    PolicyField{"corrected_word_slack", &Policy::corrected_word_slack},
    PolicyField{"corrected_least_gain", &Policy::corrected_least_gain},
    PolicyField{"corrected_unknown_count", &Policy::corrected_unknown_count},
    PolicyField{"corrected_new_words", &Policy::corrected_new_words},
    PolicyField{"corrected_most_steps", &Policy::corrected_most_steps},
    PolicyField{"reordered_most_queries", &Policy::reordered_most_queries},
    PolicyField{"reordered_log_probability", &Policy::reordered_log_probability},
    PolicyField{"reordered_most_checked", &Policy::reordered_most_checked},
    PolicyField{"reordered_most_begun", &Policy::reordered_most_begun},
    PolicyField{"reordered_count", &Policy::reordered_count},
    PolicyField{"reordered_fewest_characters", &Policy::reordered_fewest_characters},
    PolicyField{"reordered_inflected", &Policy::reordered_inflected},
    PolicyField{"reordered_corrections", &Policy::reordered_corrections},
    PolicyField{"inside_most_queries", &Policy::inside_most_queries},
    PolicyField{"inside_fewest_typed", &Policy::inside_fewest_typed},
    PolicyField{"inside_fewest_ending", &Policy::inside_fewest_ending},
    PolicyField{"inside_fewest_before", &Policy::inside_fewest_before},
    PolicyField{"other_known_factor", &Policy::other_known_factor},
    PolicyField{"pinyin_most_queries", &Policy::pinyin_most_queries},
    PolicyField{"pinyin_log_probability", &Policy::pinyin_log_probability},
    PolicyField{"pinyin_fewest_characters", &Policy::pinyin_fewest_characters},
    PolicyField{"pinyin_count", &Policy::pinyin_count},
    PolicyField{"page", &Policy::page},
    PolicyField{"length_penalty", &Policy::length_penalty},
    PolicyField{"min_probability", &Policy::min_probability},
    PolicyField{"common_probability", &Policy::common_probability},
    PolicyField{"invented_min_probability", &Policy::invented_min_probability},
    PolicyField{"odd_min_probability", &Policy::odd_min_probability},
    PolicyField{"odd_words_before", &Policy::odd_words_before},
    PolicyField{"odd_ending", &Policy::odd_ending},
    PolicyField{"often_typed", &Policy::often_typed},
    PolicyField{"often_typed_share", &Policy::often_typed_share},
    PolicyField{"known_typed", &Policy::known_typed},
    PolicyField{"counts_believed", &Policy::counts_believed},
};
static_assert(sizeof(Policy) == policy_fields.size() * sizeof(double), "a number of the policy is not listed");

}  // namespace halfword
