#include "sources/search_source.h"

#include <utility>

namespace halfword {

void SearchSource::propose(const Question& question, Proposals& proposals) const {
  PrefixFacts& facts = proposals.facts;
  if (static_cast<double>(question.reading.text.size()) > question.policy.longest_searched) return;
  const Effort effort = effort_for(question.policy, question.options, facts, without_network_ != nullptr);
  const ModelSearch& model = effort.with_network ? model_ : *without_network_;
  SearchResult found = model.complete(question.reading, effort.options, effort.limits, question.deadline);
  facts.log_probability = found.log_probability;
  facts.timed_out = found.timed_out;
  facts.cost = found.cost;
  for (Completion& completion : found.completions) {
    Proposal& proposal = proposals.at(std::move(completion.text));
    proposal.model_score = completion.score;
    proposal.searched = true;
  }
}

}  // namespace halfword
