#include "rank/features.h"

#include <algorithm>
#include <cmath>

namespace halfword {
namespace {

// Limits that keep logarithms finite; beyond them differences mean nothing.
constexpr double least_score = -30.0;
constexpr double least_probability = 1e-6;
constexpr double least_estimate = 1e-13;
constexpr double most_words = 10.0;
constexpr double most_unseen = 3.0;
constexpr double most_copied = 4.0;

float& at(Features& features, Feature feature) { return features[static_cast<std::size_t>(feature)]; }

void set(Features& features, Feature feature, double value) { at(features, feature) = static_cast<float>(value); }

/// The logarithm of a probability, which most often is 0.
double log_of(double probability) {
  static const double least = std::log(least_probability);
  return probability <= least_probability ? least : std::log(probability);
}

std::string_view from(std::string_view text, std::size_t begin) { return text.substr(std::min(begin, text.size())); }

double spaces_from(std::string_view text, std::size_t begin) {
  const std::string_view part = from(text, begin);
  return std::min(static_cast<double>(std::count(part.begin(), part.end(), ' ')), most_words);
}

/// What the language model would say had it learned the live changes: its opinion counts as much as the log it learned.
class Opinion {
 public:
  Opinion(const Mixture& mixture, const PrefixFacts& facts, double lowest)
      : learned_(std::max(facts.total - facts.since, 0.0) + mixture.least),
        total_(std::max(learned_ + facts.since, mixture.least)),
        changed_(facts.since != 0.0),
        lowest_(lowest) {}

  bool holds(const Proposal& proposal) const { return proposal.searched || proposal.since > 0.0; }

  double score(const Proposal& proposal) const {
    const double found = proposal.searched ? std::max(proposal.model_score, least_score) : lowest_;
    if (!changed_ && proposal.since == 0.0) return found;
    const double times = learned_ * std::exp(found) + proposal.since;
    return times <= 0.0 ? least_score : std::max(std::log(times / total_), least_score);
  }

 private:
  double learned_;
  double total_;
  bool changed_;
  double lowest_;
};

/// What all sources together say of a proposal: counts are the evidence, the models' opinions the prior.
class Estimator {
 public:
  Estimator(const Mixture& mixture, const Proposals& proposals) : discount_(mixture.discount) {
    const PrefixFacts& facts = proposals.facts;
    weight_ = mixture.least + mixture.breadth * std::pow(facts.distinct, mixture.growth);
    total_ = facts.total - discount_ * facts.distinct + weight_;
    const auto proposed = [&](double Proposal::* opinion) {
      return std::any_of(proposals.list().begin(), proposals.list().end(),
                         [&](const Proposal& each) { return each.*opinion > 0.0; });
    };
    spellings_ = proposed(&Proposal::spellings) ? mixture.spellings : 0.0;
    companions_ = proposed(&Proposal::companions) ? mixture.companions * (1.0 - spellings_) : 0.0;
    model_ = 1.0 - companions_ - spellings_;
  }

  double estimate(const Proposal& proposal, const Opinion& opinion) const {
    const double prior = (opinion.holds(proposal) ? model_ * std::exp(opinion.score(proposal)) : 0.0) +
                         companions_ * proposal.companions + spellings_ * proposal.spellings;
    const double evidence = std::max(proposal.count - discount_, 0.0) * std::exp(proposal.log_reading);
    return std::log(std::max((evidence + weight_ * prior) / total_, least_estimate));
  }

 private:
  double discount_;
  double weight_;
  double total_;
  double model_;
  double companions_;
  double spellings_;
};

/// The features that all proposals for a prefix share.
Features prefix_part(std::string_view prefix, const PrefixFacts& facts) {
  Features features{};
  set(features, Feature::log_distinct, std::log1p(facts.distinct));
  set(features, Feature::log_total, std::log1p(facts.total));
  set(features, Feature::after_space, prefix.ends_with(' ') ? 1.0 : 0.0);
  set(features, Feature::typed_words, spaces_from(prefix, 0));
  set(features, Feature::typed_characters, std::log1p(characters_from(prefix, 0)));
  return features;
}

/// What the session's earlier queries say; all 0 without a session.
void add_session(const Proposal& proposal, const PrefixFacts& facts, Features& features) {
  const SessionEvidence& found = proposal.session;
  set(features, Feature::session_size, std::log1p(facts.session_size));
  set(features, Feature::session_typed_words, std::min(facts.session_words, most_copied));
  set(features, Feature::session_goes_on, facts.session_recency);
  set(features, Feature::session_repeat, found.repeats > 0.0 ? 1.0 : 0.0);
  set(features, Feature::session_repeat_recency, found.repeat_recency);
  set(features, Feature::session_log_repeats, found.repeats > 0.0 ? std::log(found.repeats) : 0.0);
  set(features, Feature::session_copied_words, std::min(found.copied_words, most_copied));
  set(features, Feature::session_new_words, std::min(found.new_words, most_copied));
  set(features, Feature::session_word_recency, found.word_recency);
  set(features, Feature::session_word_agreement, std::log1p(found.word_agreement));
  set(features, Feature::session_begun_characters,
      found.word_agreement > 0.0 ? std::log1p(facts.begun_characters) : 0.0);
  set(features, Feature::session_follows, found.follows);
  set(features, Feature::session_tail, found.tail);
  set(features, Feature::session_extends, found.extends_recency);
  set(features, Feature::session_overlap, found.overlap);
  set(features, Feature::session_overlap_with_last, found.overlap_with_last);
  set(features, Feature::session_shared_start, found.shared_start);
}

/// The score of the least likely proposal that the search found: what it did not find is hardly likelier.
double lowest_found(const Proposals& proposals) {
  double lowest = 0.0;
  bool found = false;
  for (const Proposal& proposal : proposals.list()) {
    if (!proposal.searched) continue;
    lowest = found ? std::min(lowest, proposal.model_score) : proposal.model_score;
    found = true;
  }
  return found ? std::max(lowest, least_score) : least_score;
}

}  // namespace

double characters_from(std::string_view text, std::size_t begin) {
  const std::string_view part = from(text, begin);
  const auto begins = [](char byte) { return (static_cast<unsigned char>(byte) & 0xC0) != 0x80; };
  return static_cast<double>(std::count_if(part.begin(), part.end(), begins));
}

std::vector<Features> features_of(std::string_view prefix, const Proposals& proposals, const Mixture& mixture,
                                  const Lexicon& words, const LiveFlags* live_words) {
  const PrefixFacts& facts = proposals.facts;
  const Estimator estimator(mixture, proposals);
  const Features shared = prefix_part(prefix, facts);
  const Opinion opinion(mixture, facts, lowest_found(proposals));
  const double breadth = std::log1p(facts.distinct);
  const double share_of = facts.total + 1.0;
  const double log_share_of_none = std::log(0.5 / share_of);
  std::vector<Features> all;
  all.reserve(proposals.list().size());
  for (const Proposal& proposal : proposals.list()) {
    Features& each = all.emplace_back(shared);
    const std::string_view matched = std::string_view(proposal.text).substr(0, proposal.matched);
    const double added = characters_from(proposal.text, proposal.matched);
    const double counted = proposal.count * std::exp(proposal.log_reading);
    const bool typed = proposal.count > 0.0;
    set(each, Feature::estimate, estimator.estimate(proposal, opinion));
    set(each, Feature::model_score, opinion.score(proposal));
    set(each, Feature::searched, opinion.holds(proposal) ? 1.0 : 0.0);
    set(each, Feature::log_count, typed ? std::log1p(proposal.count) : 0.0);
    set(each, Feature::log_share, typed ? std::log((counted + 0.5) / share_of) : log_share_of_none);
    set(each, Feature::typed, typed ? 1.0 : 0.0);
    set(each, Feature::typed_once, proposal.count == 1.0 ? 1.0 : 0.0);
    set(each, Feature::added_characters, added);
    set(each, Feature::added_words, spaces_from(proposal.text, proposal.matched));
    set(each, Feature::breadth_of_added, breadth * added);
    const std::size_t begun = matched.rfind(' ') + 1;  // where the word begins that is being typed
    const WordFacts known = typed ? WordFacts{} : words.facts_of(from(proposal.text, begun), live_words);
    set(each, Feature::unseen_words, std::min(static_cast<double>(known.unseen), most_unseen));
    set(each, Feature::invented_words, std::min(static_cast<double>(known.invented), most_unseen));
    set(each, Feature::least_typed, known.least_typed);
    set(each, Feature::last_ended, known.last_ended);
    set(each, Feature::log_companions, log_of(proposal.companions));
    set(each, Feature::log_spellings, log_of(proposal.spellings));
    set(each, Feature::folded, proposal.log_reading);
    if (facts.session_size > 0.0) add_session(proposal, facts, each);
  }
  return all;
}

}  // namespace halfword
