#include "sources/popular_source.h"

#include <algorithm>
#include <cmath>
#include <span>
#include <utility>

#include "readings/folding.h"
#include "sort.h"
#include "store/current_queries.h"
#include "text/fold.h"

namespace halfword {

namespace {

/// The beginning of a text that stands for the first of some keys that it begins with.
std::string_view beginning_for(std::span<const std::string> keys, std::string_view text) {
  for (const std::string& key : keys) {
    if (const auto covered = covered_by(text, key)) return text.substr(0, *covered);
  }
  return text;
}

}  // namespace

void PopularSource::propose(const Question& question, Proposals& proposals) const {
  propose_as_typed(question, proposals);
  std::vector<Other> found = others(question);
  double total = 0.0;
  double distinct = 0.0;
  for (const Other& other : found) {
    total += other.weight;
    distinct += std::exp(other.log_reading);
  }
  PrefixFacts& facts = proposals.facts;
  // Where many queries go on from the text as typed, it is what was meant, unless others are typed more.
  if (facts.longer_distinct >= question.policy.folded_most_queries && total <= facts.longer_total) return;
  facts.total += total;
  facts.distinct += distinct;
  facts.longer_total += total;
  facts.longer_distinct += distinct;
  for (Other& other : found) {
    Proposal& proposal = proposals.at(std::move(other.query.text), other.log_reading, other.matched);
    proposal.count = other.query.count;
    proposal.since = other.query.since;
  }
}

void PopularSource::propose_as_typed(const Question& question, Proposals& proposals) const {
  const CurrentQueries current(popular_, folded_, question.live);
  // Of those that differ in little only one may be shown.
  const double surplus = question.policy.known_surplus_factor * static_cast<double>(question.options.count);
  const std::size_t count = question.options.count + static_cast<std::size_t>(surplus);
  TypedQueries typed = current.most_typed(question.reading.text, count, question.options.echo);
  PrefixFacts& facts = proposals.facts;
  facts.total = typed.total;
  facts.distinct = typed.distinct;
  facts.since = typed.since;
  facts.longer_total = typed.longer_total();
  facts.longer_distinct = typed.longer_distinct();
  facts.first = typed.first;
  facts.last = typed.last;
  facts.all_listed =
      static_cast<double>(typed.queries.size()) >= typed.longer_distinct() + (question.options.echo ? 1 : 0);
  for (TypedQuery& query : typed.queries) {
    Proposal& proposal = proposals.at(std::move(query.text));
    proposal.count = query.count;
    proposal.since = query.since;
  }
}

/// The queries of most weight that other readings find, each once.
std::vector<PopularSource::Other> PopularSource::others(const Question& question) const {
  std::vector<Other> found;
  if (!question.options.fold) return found;
  for (const Reading& reading : question.readings) {
    // What a folded reading finds, the folding of the text as typed finds too.
    if (reading.kind != ReadingKind::folded) add_folded(question, reading, found);
  }
  sort_list(found, [](const Other& left, const Other& right) {
    return left.query.text != right.query.text ? left.query.text < right.query.text : left.weight > right.weight;
  });
  const auto same = [](const Other& left, const Other& right) { return left.query.text == right.query.text; };
  found.erase(std::unique(found.begin(), found.end(), same), found.end());
  sort_list(found, [](const Other& left, const Other& right) {
    return left.weight != right.weight ? left.weight > right.weight : left.query.text < right.query.text;
  });
  found.resize(std::min(found.size(), question.options.count));
  return found;
}

/// Add the queries that begin with a reading once both are folded.
void PopularSource::add_folded(const Question& question, const Reading& reading, std::vector<Other>& found) const {
  const bool plain = is_plain(reading.text);
  const CurrentQueries current(popular_, folded_, question.live);
  if (plain && !current.holds_folded()) return;
  const std::vector<std::string> keys = plain ? std::vector{reading.text} : fold_keys(reading.text);
  for (const std::string& key : keys) {
    const auto add = [&](TypedQuery query) {
      if (query.text.starts_with(question.reading.text)) return;
      const std::string_view typed = beginning_for(keys, query.text);
      const double log_reading = reading.log_probability + log_folded(typed, reading.text, question.policy);
      const double weight = query.count * std::exp(log_reading);
      const std::size_t matched = covered_by(query.text, key).value_or(query.text.size());
      found.push_back({std::move(query), log_reading, matched, weight});
    };
    const std::size_t count = question.options.count;
    for (TypedQuery& query : current.best_folded(key, count)) {
      // Who knows a query by its hyphen knows it with a space, too: `xray` finds `x-ray`, and so `x ray`.
      std::string spaced = query.text;
      std::replace(spaced.begin(), spaced.end(), '-', ' ');
      const auto [typed, since] =
          spaced == query.text ? CurrentQueries::Count{} : current.count_of(spaced, 0, current.size());
      if (typed > 0.0) add({std::move(spaced), typed, since});
      add(std::move(query));
    }
    if (key == reading.text) continue;
    for (TypedQuery& query : current.best_of(key, count)) add(std::move(query));
  }
}

void PopularSource::annotate(const Question& question, Proposals& proposals) const {
  const CurrentQueries current(popular_, folded_, question.live);
  const PrefixFacts& facts = proposals.facts;
  for (Proposal& proposal : proposals.list()) {
    if (proposal.count > 0.0) continue;
    const bool elsewhere = proposal.matched > 0;   // found by another reading
    if (!elsewhere && facts.all_listed) continue;  // what is not listed was never typed
    const std::size_t first = elsewhere ? 0 : facts.first;
    const auto [count, since] = current.count_of(proposal.text, first, elsewhere ? current.size() : facts.last);
    proposal.count = count;
    proposal.since = since;
  }
}

}  // namespace halfword
