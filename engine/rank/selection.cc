#include "rank/selection.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <optional>
#include <stdexcept>
#include <utility>

#include "rank/duplicates.h"
#include "sort.h"

namespace halfword {
namespace {

Origin origin_of(const Proposal& proposal) {
  const bool modelled = proposal.searched || proposal.companions > 0.0 || proposal.spellings > 0.0;
  const bool only_copied = proposal.copied && !modelled && proposal.count == 0.0;
  if (proposal.session.repeats > 0.0 || only_copied) return Origin::session;
  if (proposal.count == 0.0) return Origin::model;
  return modelled ? Origin::both : Origin::popular;
}

/// The score from which on a text is common among all queries. After a common beginning (`what is `) each of its many
/// ways on is unlikely.
double common_floor(const Policy& policy, const PrefixFacts& facts) {
  const bool is_known = facts.log_probability < 0.0;  // the search was asked, and had the time
  return is_known ? std::log(policy.common_probability) - facts.log_probability : 0.0;
}

/// Whether a proposal is likely enough, and made of known words where that is asked for.
class Admission {
 public:
  Admission(const Ranked& ranked, const Policy& policy, const Lexicon& words)
      : ranked_(ranked), policy_(policy), words_(words) {
    const SearchOptions& options = ranked.request.options;
    by_policy_ = options.min_probability < 0.0;
    // Who has typed nothing asks for what is popular, however small its share is.
    const double least = ranked.request.typed.empty() ? 0.0 : policy.min_probability;
    floor_ = by_policy_ ? std::min(std::log(least), common_floor(policy, ranked.proposals.facts))
                        : std::log(options.min_probability);
    odd_floor_ = by_policy_ ? std::log(policy.odd_min_probability) : -std::numeric_limits<double>::infinity();
    // What is common may stop after any word: it is the beginning of many queries.
    common_floor_ = common_floor(policy, ranked.proposals.facts);
    everything_ = by_policy_ ? policy.min_probability == 0.0 : options.min_probability == 0.0;
    invented_floor_ = options.invent == Invent::careful ? std::log(policy.invented_min_probability) : floor_;
    shows_once_ = by_policy_ && policy.shown_once > 0.0;
    if (by_policy_) note_known();
    const bool shows_none = options.invent == Invent::careful && policy.invented_min_probability == 1.0;
    never_ = options.invent == Invent::never || (shows_none && words.is_listed());
    if (never_ && !words.is_listed()) {
      throw std::invalid_argument("invent=\"never\" needs a model with a list of its words; train the model again");
    }
  }

  /// Whether nothing is too unlikely to be shown, a near-duplicate neither.
  bool everything() const { return everything_; }

  /// Whether queries are shown once, in whatever order of their words.
  bool shows_once() const { return shows_once_; }

  /// Whether a proposal is likely enough, or known and no correction: such a query never looks wrong.
  bool likely(std::size_t place) const {
    const Proposal& proposal = ranked_.proposals.list()[place];
    if (score_of(place) >= floor_) return true;
    const bool known = proposal.count > 0.0 && proposal.count >= policy_.known_typed;
    return by_policy_ && known && proposal.branch == 0;
  }

  /// Whether a known query was found that does not go on from the typed text, but has its words or corrects them.
  bool is_found_elsewhere(const Proposal& proposal) const {
    if (proposal.count <= 0.0 || proposal.text.starts_with(ranked_.request.typed)) return false;
    return proposal.branch > 0 || proposal.log_reading == 0.0;  // or it is only spelled otherwise
  }

  /// Whether a proposal may be shown below `above` others; `elsewhere`: one of these was found elsewhere.
  bool admits(std::size_t place, std::size_t above, bool elsewhere) const {
    const Proposal& proposal = ranked_.proposals.list()[place];
    if (proposal.count > 0.0) return !is_rare_form_of_typed(proposal) && !is_rare_form(proposal);
    if (!is_new(proposal)) return true;
    if (is_known_otherwise(proposal.text) || is_too_odd(proposal, score_of(place), above, elsewhere)) return false;
    const std::string_view completed = std::string_view(proposal.text).substr(completed_from(proposal));
    if (shows_once_ && !words_.knows_unspaced(completed)) return false;
    const float invented = ranked_.features[place][static_cast<std::size_t>(Feature::invented_words)];
    if (!never_) return invented == 0.0F || score_of(place) >= invented_floor_;
    if (invented > 0.0F) return false;
    const std::string_view text = proposal.text;
    const LiveFlags* const live_words = ranked_.live == nullptr ? nullptr : &ranked_.live->words;
    const std::size_t judged = known_.empty() ? completed_from(proposal) : 0;
    return words_.knows_all(text.substr(judged), live_words);
  }

 private:
  /// Note which known queries may make other texts superfluous: the proposed ones, and the one that was typed whole.
  void note_known() {
    const std::vector<Proposal>& list = ranked_.proposals.list();
    for (std::size_t place = 0; place < ranked_.scores.size(); ++place) {
      const Proposal& each = list[place];
      if (is_found_elsewhere(each)) words_are_known_ = ranked_.companions != nullptr;
      if (!shows_once_ || each.count <= 0.0 || std::isnan(ranked_.scores[place])) continue;
      if (likely(place)) known_.add(each.text, each.count);
    }
    if (everything_) return;
    const PrefixFacts& facts = ranked_.proposals.facts;
    typed_count_ = facts.total - facts.longer_total;
    const bool whole = typed_count_ > 0.0;
    if (whole || shows_once_) typed_form_ = plain_form(ranked_.request.typed);
    if (!whole) return;
    doubt_ = std::log((facts.longer_total + policy_.new_after_whole) / (facts.total + policy_.new_after_whole));
  }

  /// Where the first word of a proposal begins that was not typed to its end.
  static std::size_t completed_from(const Proposal& proposal) {
    return std::string_view(proposal.text).substr(0, proposal.matched).rfind(' ') + 1;
  }

  /// Whether nobody typed a proposal; what this person typed the words of is not new.
  static bool is_new(const Proposal& proposal) {
    const bool holds_all_words = proposal.session.copied_words > 0.0 && proposal.session.new_words == 0.0;
    return proposal.count == 0.0 && !holds_all_words;
  }

  /// The score that decides what is shown. Whoever has typed a whole known query may want no more than that; then what
  /// is new is less likely by so much.
  double score_of(std::size_t place) const {
    return ranked_.scores[place] + (is_new(ranked_.proposals.list()[place]) ? doubt_ : 0.0);
  }

  /// Whether a new text is nearly what was typed, or has the words of a known query, or begins one.
  bool is_known_otherwise(std::string_view text) const {
    if (!typed_form_.empty() && plain_form(text) == typed_form_) return true;
    return shows_once_ && (known_.most_with_words_of(text) > 0.0 || known_.go_on_from(text));
  }

  /// Whether a known query is nearly what was typed, but far fewer people type it.
  bool is_rare_form_of_typed(const Proposal& proposal) const {
    return proposal.count < policy_.often_typed_share * typed_count_ && plain_form(proposal.text) == typed_form_;
  }

  /// Whether more people type the words of a known query in another order or with other spaces, in a site that shows
  /// such once. What goes on from the typed text must be far rarer.
  bool is_rare_form(const Proposal& proposal) const {
    if (!shows_once_) return false;
    const double most = known_.most_with_words_of(proposal.text);
    const double often = proposal.text.starts_with(ranked_.request.typed) ? 0.0 : policy_.often_typed;
    const bool rare = proposal.count < std::max(often, policy_.often_typed_share * most);
    return (rare && proposal.count < most) || proposal.count < known_.most_with_letters_of(proposal.text);
  }

  /// Whether a proposal reads too oddly for its score. It must be as likely as a number times the root of its rank: the
  /// lower it stands, the less it is worth. Below a known query that was found elsewhere, everything new reads oddly.
  bool is_too_odd(const Proposal& proposal, double score, std::size_t above, bool elsewhere) const {
    if (repeats_known(proposal)) return true;
    const double floor = odd_floor_ + 0.5 * std::log(static_cast<double>(above + 1));
    if (ranked_.companions == nullptr || score >= floor) return false;
    if (elsewhere) return true;
    if (ranked_.companions->is_apart(proposal.text, proposal.matched, policy_)) return true;
    return score < common_floor_ && ranked_.companions->is_unfinished(proposal.text, policy_);
  }

  /// Whether a proposal repeats a word although known queries have the typed words: after `driver hgv` the likeliest
  /// word is `driver`, but `hgv driver` is meant.
  bool repeats_known(const Proposal& proposal) const {
    return words_are_known_ && ranked_.companions->repeats_word(proposal.text, proposal.matched, policy_);
  }

  const Ranked& ranked_;
  const Policy& policy_;
  const Lexicon& words_;
  double floor_;
  double odd_floor_;
  double common_floor_;
  double invented_floor_;
  bool by_policy_;
  bool everything_;
  bool never_;
  bool shows_once_ = false;       // the site shows each query once, and what is shown is not asked for
  bool words_are_known_ = false;  // in another order or place, and what is shown is not asked for
  KnownForms known_;              // of proposed queries, in such a site
  std::string typed_form_;        // of what was typed, where nothing new that is nearly the same is shown
  double typed_count_ = 0.0;      // how often it was typed as a whole query
  double doubt_ = 0.0;            // log p(whoever typed it goes on)
};

/// The places of all proposals that have a score, the likeliest first.
std::vector<std::size_t> by_likelihood(const Ranked& ranked) {
  std::vector<std::size_t> places(ranked.scores.size());
  std::iota(places.begin(), places.end(), std::size_t{0});
  // A damaged model may say what is no number.
  std::erase_if(places, [&](std::size_t place) { return std::isnan(ranked.scores[place]); });
  const std::vector<Proposal>& list = ranked.proposals.list();
  sort_list(places, [&](std::size_t left, std::size_t right) {
    const double difference = ranked.scores[left] - ranked.scores[right];
    return difference != 0.0 ? difference > 0.0 : list[left].text < list[right].text;
  });
  return places;
}

/// The likeliest proposals that may be shown, as many as fit on a page or are asked for.
std::vector<std::size_t> choose(const Ranked& ranked, const Policy& policy, const Lexicon& words) {
  const Admission admission(ranked, policy, words);
  const std::size_t most = std::max(ranked.request.options.count, static_cast<std::size_t>(policy.page));
  Shown shown;
  std::vector<std::size_t> chosen;
  bool elsewhere = false;
  for (const std::size_t place : by_likelihood(ranked)) {
    if (chosen.size() == most) break;
    if (!admission.likely(place) || !admission.admits(place, chosen.size(), elsewhere)) continue;
    const Proposal& proposal = ranked.proposals.list()[place];
    const double count = std::max(proposal.count, 0.0);
    std::optional<double> before = shown.add(plain_form(proposal.text), count);
    if (admission.shows_once()) before = std::max(before, shown.add(unordered_form(proposal.text), count));
    const double often = std::max(policy.often_typed, policy.often_typed_share * before.value_or(0.0));
    const bool respaced = policy.shown_once > 0.0 && shown.add_unspaced(proposal.text);
    if (before && !admission.everything() && (respaced || proposal.count < often)) continue;
    chosen.push_back(place);
    elsewhere = elsewhere || admission.is_found_elsewhere(proposal);
  }
  return chosen;
}

}  // namespace

std::vector<Completion> select(const Ranked& ranked, const Policy& policy, const Lexicon& words) {
  std::vector<std::size_t> chosen = choose(ranked, policy, words);
  std::vector<Proposal>& list = ranked.proposals.list();
  std::vector<double> order(list.size());                   // by which answers are put in order
  const bool typed_nothing = ranked.request.typed.empty();  // then the most popular ones are asked for
  for (const std::size_t place : chosen) {
    const double added = characters_from(list[place].text, list[place].matched);
    order[place] = ranked.scores[place] - (typed_nothing ? 0.0 : policy.length_penalty) * added;
  }
  sort_list(chosen, [&](std::size_t left, std::size_t right) {
    return order[left] != order[right] ? order[left] > order[right] : list[left].text < list[right].text;
  });
  chosen.resize(std::min(chosen.size(), ranked.request.options.count));
  const double shift = ranked.request.options.conditional ? 0.0 : ranked.proposals.facts.log_probability;
  std::vector<Completion> completions;
  completions.reserve(chosen.size());
  for (const std::size_t place : chosen) {
    const Origin origin = origin_of(list[place]);
    const Proposal& proposal = list[place];
    completions.push_back(
        {std::move(list[place].text), ranked.scores[place] + shift, origin, proposal.branch > 0, proposal.matched});
  }
  return completions;
}

}  // namespace halfword
