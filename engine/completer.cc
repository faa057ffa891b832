#include "completer.h"

#include <algorithm>
#include <cmath>
#include <stdexcept>
#include <utility>

#include "sources/companions.h"
#include "sources/popular_source.h"
#include "sources/search_source.h"
#include "sources/spellings.h"

namespace halfword {
namespace {

Origin origin_of(const Proposal& proposal) {
  const bool modelled = proposal.searched || proposal.companions > 0.0 || proposal.spellings > 0.0;
  if (proposal.count == 0.0) return Origin::model;
  return modelled ? Origin::both : Origin::popular;
}

/// A completion with the number by which answers are put in order.
struct Shown {
  Completion completion;
  double order;
};

}  // namespace

Completer::Completer(const ModelFile& file, const Policy& policy, const Settings& settings) : policy_(policy) {
  if (settings.popular) popular_.emplace(file);
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
  sources_.push_back(std::make_unique<PopularSource>(*popular_));
  sources_.push_back(std::make_unique<SearchSource>(*model_, without_network_ ? &*without_network_ : nullptr));
  if (file.holds("ngram.words.text")) sources_.push_back(std::make_unique<Companions>(file));
  if (file.holds("popular.by_letters")) sources_.push_back(std::make_unique<Spellings>(file, *popular_));
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
  SearchOptions options = request.options;
  // Whoever asks for fewer answers gets the first of the same.
  options.count = std::max(options.count, static_cast<std::size_t>(policy_.page));
  return gather({request.typed}, options);
}

Proposals Completer::gather(const Reading& reading, const SearchOptions& options) const {
  const Deadline deadline(options.deadline_ms);
  const Question question{reading, options, policy_, deadline};
  Proposals proposals;
  for (const auto& source : sources_) source->propose(question, proposals);
  for (const auto& source : sources_) source->annotate(question, proposals);
  return proposals;
}

std::vector<Features> Completer::features(const Request& request, const Proposals& proposals) const {
  return ranker_->features(request.typed, proposals);
}

/// Choose the likeliest proposals, as many as fit on a page or are asked for, and put them in order.
Answer Completer::show(const Request& request, Proposals proposals) const {
  const std::vector<double> scores = ranker_->log_probabilities(features(request, proposals));
  const SearchOptions& options = request.options;
  const double shift = options.conditional ? 0.0 : proposals.facts.log_probability;
  std::vector<Shown> chosen;
  chosen.reserve(scores.size());
  for (std::size_t i = 0; i < scores.size(); ++i) {
    Proposal& proposal = proposals.list()[i];
    if (std::isnan(scores[i])) continue;  // a damaged model may say what is no number
    const double added = characters_from(proposal.text, request.typed.size());
    const Origin origin = origin_of(proposal);
    chosen.push_back(
        {{std::move(proposal.text), scores[i] + shift, origin}, scores[i] - policy_.length_penalty * added});
  }
  const auto likelier = [](const Shown& left, const Shown& right) {
    return comes_first(left.completion, right.completion);
  };
  const auto most = std::min(chosen.size(), std::max(options.count, static_cast<std::size_t>(policy_.page)));
  std::partial_sort(chosen.begin(), chosen.begin() + static_cast<std::ptrdiff_t>(most), chosen.end(), likelier);
  chosen.resize(most);
  std::sort(chosen.begin(), chosen.end(), [](const Shown& left, const Shown& right) {
    return left.order != right.order ? left.order > right.order : left.completion.text < right.completion.text;
  });
  Answer answer{{}, proposals.facts.timed_out, proposals.facts.cost};
  const double floor = std::log(options.min_probability) + shift;
  for (Shown& each : chosen) {
    if (answer.completions.size() == options.count) break;
    if (each.completion.score >= floor) answer.completions.push_back(std::move(each.completion));
  }
  return answer;
}

Answer Completer::from_popular(const Request& request) const {
  return {popular_->complete(request.typed, request.options.count, request.options.echo), false, {}};
}

Answer Completer::from_model(const Request& request) const {
  const Deadline deadline(request.options.deadline_ms);
  SearchResult found = model_->complete({request.typed}, request.options, {}, deadline);
  return {std::move(found.completions), found.timed_out, found.cost};
}

}  // namespace halfword
