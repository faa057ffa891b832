#include "completer.h"

#include <algorithm>
#include <cmath>
#include <stdexcept>
#include <utility>

#include "rank/selection.h"
#include "sources/companions.h"
#include "sources/search_source.h"
#include "sources/session_source.h"
#include "sources/spellings.h"

namespace halfword {

Completer::Completer(const ModelFile& file, const Policy& policy, const Settings& settings) : policy_(policy) {
  if (settings.popular) {
    popular_.emplace(file);
    if (file.holds("popular.folded.text")) folded_.emplace(file, *popular_);
    sources_.push_back(std::make_unique<PopularSource>(*popular_, folded_ ? &*folded_ : nullptr));
  }
  if (settings.memory || settings.network) {
    std::optional<Precision> precision;
    if (settings.network) precision = settings.precision;
    model_.emplace(file, precision, settings.kernels, settings.caches);
  }
  if (!popular_ || !model_) return;
  if (settings.memory && settings.network) {
    without_network_.emplace(file, std::nullopt, settings.kernels, settings.caches);
  }
  ranker_.emplace(file);
  written_.emplace(file);
  if (file.holds("words.tree.letter")) corrections_.emplace(file, *popular_);
  sources_.push_back(std::make_unique<SearchSource>(*model_, without_network_ ? &*without_network_ : nullptr));
  if (file.holds("ngram.words.text")) sources_.push_back(std::make_unique<Companions>(file));
  if (file.holds("popular.by_letters")) sources_.push_back(std::make_unique<Spellings>(file, *popular_));
  sources_.push_back(std::make_unique<SessionSource>(*popular_));
}

const ModelSearch& Completer::language_model() const {
  if (!model_) throw std::invalid_argument("the model has no language model");
  return *model_;
}

Answer Completer::complete(const Request& request) const {
  if (ranker_) return show(request, propose(request));
  return model_ ? from_model(request) : from_popular(request);
}

Proposals Completer::propose(const Request& request) const {
  if (!ranker_) throw std::invalid_argument("a model with a single part proposes nothing to rank");
  const Deadline deadline(request.options.deadline_ms);
  const Session session(request.context);
  SearchOptions options = request.options;
  // Whoever asks for fewer answers gets the first of the same.
  options.count = std::max(options.count, static_cast<std::size_t>(policy_.page));
  Proposals proposals = gather(readings_of(request), session, options, deadline);
  for (const Reading& correction : corrections_of(request)) {
    proposals.add_branch(correction, gather_corrected(correction, session, options, deadline), request.typed);
  }
  return proposals;
}

std::vector<Reading> Completer::readings_of(const Request& request) const {
  std::vector<Reading> readings{{request.typed}};
  if (!request.options.fold || !written_) return readings;
  const auto [first, last] = popular_->range_of(request.typed);
  if (static_cast<double>(last - first) >= policy_.folded_most_queries) return readings;
  for (Reading& reading : written_->readings_of(request.typed, policy_)) readings.push_back(std::move(reading));
  return readings;
}

std::vector<Reading> Completer::corrections_of(const Request& request) const {
  if (!request.options.typos || !corrections_) return {};
  const auto [first, last] = popular_->range_of(request.typed);
  // Where many queries go on from the text as typed, it is what was meant.
  if (static_cast<double>(last - first) >= policy_.corrected_most_queries) return {};
  return corrections_->readings_of(request.typed, policy_);
}

Proposals Completer::gather(std::span<const Reading> readings, const Session& session, const SearchOptions& options,
                            const Deadline& deadline) const {
  const Question question{readings.front(), readings, options, policy_, deadline, session};
  Proposals proposals;
  for (const auto& source : sources_) source->propose(question, proposals);
  for (const auto& source : sources_) source->annotate(question, proposals);
  for (Proposal& proposal : proposals.list()) {
    if (proposal.matched == 0) proposal.matched = readings.front().text.size();
  }
  return proposals;
}

/// What the sources propose as if a correction had been typed; it may itself be the whole query.
Proposals Completer::gather_corrected(const Reading& correction, const Session& session, const SearchOptions& options,
                                      const Deadline& deadline) const {
  const Reading reading{correction.text};
  SearchOptions fewer = options;
  fewer.count = std::min(options.count, static_cast<std::size_t>(policy_.corrected_count));
  Proposals proposals = gather({&reading, 1}, session, fewer, deadline);
  const std::uint32_t count = popular_->count_of(reading.text, 0, popular_->size());
  if (count > 0) {
    Proposal& itself = proposals.at(reading.text);
    itself.count = count;
    itself.matched = reading.text.size();
  }
  return proposals;
}

std::vector<Features> Completer::features(const Request& request, const Proposals& proposals) const {
  return ranker_->features(request.typed, proposals);
}

Answer Completer::show(const Request& request, Proposals proposals) const {
  const std::vector<Features> rows = features(request, proposals);
  const std::vector<double> scores = ranker_->log_probabilities(rows);
  std::vector<Completion> shown = select({request, proposals, rows, scores}, policy_, ranker_->words());
  return {std::move(shown), proposals.facts.timed_out, proposals.facts.cost};
}

Answer Completer::from_popular(const Request& request) const {
  Proposals proposals = gather(std::vector<Reading>{{request.typed}}, Session({}), request.options,
                               Deadline(request.options.deadline_ms));
  Answer answer;
  for (Proposal& proposal : proposals.list()) {
    const double share = proposal.count * std::exp(proposal.log_reading) / proposals.facts.total;
    const std::size_t matched = proposal.matched;
    answer.completions.push_back({std::move(proposal.text), std::log(share), Origin::popular, false, matched});
  }
  std::sort(answer.completions.begin(), answer.completions.end(), comes_first);
  if (answer.completions.size() > request.options.count) answer.completions.resize(request.options.count);
  return answer;
}

Answer Completer::from_model(const Request& request) const {
  const Deadline deadline(request.options.deadline_ms);
  SearchOptions options = request.options;
  if (options.invent == Invent::never) {
    throw std::invalid_argument("invent=\"never\" needs popularity beside the language model, which invents by itself");
  }
  options.min_probability = std::max(options.min_probability, 0.0);  // only a ranker has probabilities to judge by
  const Reading reading{request.typed};
  SearchResult found = model_->complete({&reading, 1}, options, {}, deadline);
  for (Completion& completion : found.completions) completion.matched = request.typed.size();
  return {std::move(found.completions), found.timed_out, found.cost};
}

}  // namespace halfword
