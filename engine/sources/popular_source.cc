#include "sources/popular_source.h"

#include <utility>

namespace halfword {

void PopularSource::propose(const Question& question, Proposals& proposals) const {
  TypedQueries typed = popular_.most_typed(question.reading.text, question.options.count, question.options.echo);
  PrefixFacts& facts = proposals.facts;
  facts.total = static_cast<double>(typed.total);
  facts.distinct = static_cast<double>(typed.distinct);
  facts.longer_total = static_cast<double>(typed.longer_total());
  facts.longer_distinct = static_cast<double>(typed.longer_distinct());
  facts.first = typed.first;
  facts.last = typed.last;
  facts.all_listed = typed.queries.size() >= typed.longer_distinct() + (question.options.echo ? 1 : 0);
  for (TypedQuery& query : typed.queries) proposals.at(std::move(query.text)).count = query.count;
}

void PopularSource::annotate(const Question&, Proposals& proposals) const {
  const PrefixFacts& facts = proposals.facts;
  if (facts.all_listed) return;  // what is not listed was never typed
  for (Proposal& proposal : proposals.list()) {
    if (proposal.count == 0.0) proposal.count = popular_.count_of(proposal.text, facts.first, facts.last);
  }
}

}  // namespace halfword
