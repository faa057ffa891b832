#include "sources/search_source.h"

#include <utility>

namespace halfword {
namespace {

/// The likeliest reading that a text goes on from; as typed, if it goes on from none (see SearchOptions::echo).
const Reading& reading_of(const std::string& text, std::span<const Reading> readings) {
  const Reading* best = &readings.front();
  if (text.starts_with(best->text)) return *best;
  bool found = false;
  for (const Reading& reading : readings) {
    if (!text.starts_with(reading.text) || (found && reading.log_probability <= best->log_probability)) continue;
    best = &reading;
    found = true;
  }
  return *best;
}

}  // namespace

void SearchSource::propose(const Question& question, Proposals& proposals) const {
  PrefixFacts& facts = proposals.facts;
  if (static_cast<double>(question.reading.text.size()) > question.policy.longest_searched) return;
  const Effort effort =
      effort_for(question.policy, question.options, facts, without_network_ != nullptr, question.with_network);
  const ModelSearch& model = effort.with_network ? model_ : *without_network_;
  // The next keystroke is likely to ask the network, and should not have to read the session first.
  if (!effort.with_network && !question.deadline.passed()) model_.expect(question.session.queries());
  SearchResult found =
      model.complete(question.readings, question.session.queries(), effort.options, effort.limits, question.deadline);
  facts.log_probability = found.log_probability;
  facts.timed_out = found.timed_out;
  facts.cost = found.cost;
  for (Completion& completion : found.completions) {
    const Reading& reading = reading_of(completion.text, question.readings);
    const bool as_typed = reading.kind == ReadingKind::as_typed;
    std::string text = std::move(completion.text);
    Proposal& proposal = as_typed ? proposals.at(std::move(text))
                                  : proposals.at(std::move(text), reading.log_probability, reading.text.size());
    proposal.model_score = completion.score;
    proposal.searched = true;
  }
}

}  // namespace halfword
