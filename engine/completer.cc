#include "completer.h"

#include <algorithm>
#include <cmath>
#include <stdexcept>
#include <utility>

#include "rank/duplicates.h"
#include "rank/pins.h"
#include "rank/selection.h"
#include "rank/sharing.h"
#include "search/tuning.h"
#include "sort.h"
#include "sources/search_source.h"
#include "sources/session_source.h"
#include "sources/spellings.h"
#include "store/current_queries.h"

namespace halfword {
namespace {

/// What an answer is kept by, besides its options: the typed text and the live changes.
std::string key_of(const Request& request, const LiveState* live) {
  const std::uint64_t generation = live == nullptr ? 0 : live->generation;
  return std::string(request.typed).append(reinterpret_cast<const char*>(&generation), sizeof(generation));
}

}  // namespace

Completer::Completer(const ModelFile& file, const Policy& policy, const Settings& settings)
    : policy_(policy), displays_(file), answers_(settings.caches.answers) {
  if (settings.popular) {
    popular_.emplace(file);
    if (file.holds("popular.folded.text")) folded_.emplace(file, *popular_);
    sources_.push_back(std::make_unique<PopularSource>(*popular_, folded_ ? &*folded_ : nullptr));
  }
  if (settings.memory || settings.network) {
    std::optional<Precision> precision;
    if (settings.network) precision = settings.precision;
    model_.emplace(file, precision, settings.kernels, settings.caches, load_memory(file));
  }
  if (popular_ && !model_) live_ = std::make_unique<Live>(*popular_, folded_ ? &*folded_ : nullptr, nullptr);
  if (!popular_ || !model_) return;
  if (settings.memory && settings.network) {
    without_network_.emplace(file, std::nullopt, settings.kernels, settings.caches, model_->model().memory());
  }
  ranker_.emplace(file);
  written_.emplace(file);
  live_ = std::make_unique<Live>(*popular_, folded_ ? &*folded_ : nullptr, &ranker_->words());
  if (file.holds("words.tree.letter") && file.holds("belief.linear")) {
    corrections_.emplace(file, *popular_, settings.caches.states);
    belief_.emplace(file);
    if (file.holds("pinyin.letter")) homophones_.emplace(file, *popular_);
  }
  elsewhere_.emplace(file, *popular_, policy_);
  sources_.push_back(std::make_unique<SearchSource>(*model_, without_network_ ? &*without_network_ : nullptr));
  if (file.holds("ngram.words.text")) {
    auto companions = std::make_unique<Companions>(file);
    companions_ = companions.get();
    sources_.push_back(std::move(companions));
  }
  if (file.holds("popular.by_letters")) sources_.push_back(std::make_unique<Spellings>(file, *popular_));
  sources_.push_back(std::make_unique<SessionSource>(*popular_));
}

const ModelSearch& Completer::language_model() const {
  if (!model_) throw std::invalid_argument("the model has no language model");
  return *model_;
}

Live& Completer::live() const {
  if (!live_) throw std::invalid_argument("live changes need a model with popularity");
  return *live_;
}

double Completer::count_of(std::string_view query) const {
  if (!popular_) return 0.0;
  return CurrentQueries(*popular_, nullptr, changes().get()).count_of(query, 0, popular_->size()).count;
}

/// The live changes of this moment; null if there are none.
std::shared_ptr<const LiveState> Completer::changes() const { return live_ ? live_->state() : nullptr; }

Answer Completer::complete(const Request& request) const {
  const std::shared_ptr<const LiveState> live = changes();
  const bool kept = answers_.enabled() && request.context.empty() && request.typed.size() <= tuning.short_prefix;
  const std::string key = kept ? key_of(request, live.get()) : std::string();
  if (kept) {
    const auto known = answers_.find(key);
    if (known && known->options == request.options) return known->answer;
  }
  Answer answer = answer_to(request, live.get());
  for (Completion& completion : answer.completions) displays_.dress(completion);
  if (kept && !answer.timed_out && answer.completions.size() <= tuning.most_kept) {
    answers_.insert(key, {request.options, answer});
  }
  return answer;
}

Answer Completer::answer_to(const Request& request, const LiveState* live) const {
  if (ranker_) return show(request, branches(request, live), live);
  return model_ ? from_model(request) : from_popular(request, live);
}

bool Completer::is_odd(const Proposal& proposal) const {
  return proposal.count == 0.0 && companions_ != nullptr &&
         (companions_->is_apart(proposal.text, proposal.matched, policy_) ||
          companions_->is_unfinished(proposal.text, policy_));
}

std::vector<Branch> Completer::branches(const Request& request) const { return branches(request, changes().get()); }

std::vector<Branch> Completer::branches(const Request& request, const LiveState* live) const {
  if (!ranker_) throw std::invalid_argument("a model with a single part proposes nothing to rank");
  const Deadline deadline(request.options.deadline_ms);
  const Session session(request.context);
  SearchOptions options = request.options;
  // Whoever asks for fewer answers gets the first of the same.
  options.count = std::max(options.count, static_cast<std::size_t>(policy_.page));
  std::vector<Branch> branches;
  branches.push_back(
      ranked({request.typed}, gather(readings_of(request, live), session, options, deadline, live), live));
  std::vector<Reading> corrections = corrections_of(request, live);
  if (!corrections.empty()) corrections = belief_->worth_completing(request.typed, std::move(corrections), policy_);
  for (Reading& correction : corrections) {
    Proposals proposals = gather_corrected(correction, session, options, deadline, live);
    branches.push_back(ranked(std::move(correction), std::move(proposals), live));
  }
  add_elsewhere(request.options, session, live, branches);
  return branches;
}

Branch Completer::ranked(Reading reading, Proposals proposals, const LiveState* live) const {
  std::vector<Features> features = ranker_->features(reading.text, proposals, live ? &live->words : nullptr);
  Chances chances = ranker_->chances(features);
  share_by_counts(reading.text, proposals, features, policy_, chances);
  return {std::move(reading), std::move(proposals), std::move(features), std::move(chances)};
}

/// What the typed text may stand for, itself first. Where many queries go on from it, it is what was meant.
std::vector<Reading> Completer::readings_of(const Request& request, const LiveState* live) const {
  std::vector<Reading> readings{{request.typed}};
  if (!request.options.fold || !written_) return readings;
  const CurrentQueries current(*popular_, nullptr, live);
  if (current.are_begun(request.typed, policy_.folded_most_queries)) return readings;
  for (Reading& reading : written_->readings_of(request.typed, policy_)) readings.push_back(std::move(reading));
  return readings;
}

std::vector<Reading> Completer::corrections_of(const Request& request) const {
  return corrections_of(request, changes().get());
}

std::vector<Reading> Completer::corrections_of(const Request& request, const LiveState* live) const {
  if (!request.options.typos || !corrections_) return {};
  // Where many queries go on from the text as typed, it is what was meant.
  if (CurrentQueries(*popular_, nullptr, live).are_begun(request.typed, policy_.corrected_most_queries)) return {};
  std::vector<Reading> readings = corrections_->readings_of(request.typed, policy_);
  if (homophones_) {
    for (Reading& each : homophones_->readings_of(request.typed, policy_)) readings.push_back(std::move(each));
  }
  return readings;
}

Proposals Completer::gather(std::span<const Reading> readings, const Session& session, const SearchOptions& options,
                            const Deadline& deadline, const LiveState* live, bool corrected) const {
  const bool with_network = !corrected || policy_.corrected_network > 0.0;
  const Question question{readings.front(), readings, options, policy_, deadline, session, live, with_network};
  Proposals proposals;
  for (const auto& source : sources_) source->propose(question, proposals);
  propose_pins(pins_for(live, readings.front().text), readings.front().text, proposals);
  if (live != nullptr && !live->removed.empty()) {
    proposals.remove_if([&](const Proposal& proposal) { return live->removes(proposal.text); });
  }
  for (const auto& source : sources_) source->annotate(question, proposals);
  for (Proposal& proposal : proposals.list()) {
    if (proposal.matched == 0) proposal.matched = readings.front().text.size();
  }
  return proposals;
}

/// What the sources propose as if a correction had been typed; it may itself be the whole query.
Proposals Completer::gather_corrected(const Reading& correction, const Session& session, const SearchOptions& options,
                                      const Deadline& deadline, const LiveState* live) const {
  const Reading reading{correction.text};
  SearchOptions fewer = options;
  fewer.count = std::min(options.count, static_cast<std::size_t>(policy_.corrected_count));
  const double beam = std::ceil(static_cast<double>(options.beam) * policy_.corrected_beam_factor);
  fewer.beam = std::max<std::size_t>(1, static_cast<std::size_t>(std::min(beam, policy_.widest_beam)));
  Proposals proposals = gather({&reading, 1}, session, fewer, deadline, live, true);
  const auto [count, since] = CurrentQueries(*popular_, nullptr, live).count_of(reading.text, 0, popular_->size());
  if (count > 0.0 && (live == nullptr || !live->removes(reading.text))) {
    Proposal& itself = proposals.at(reading.text);
    itself.count = count;
    itself.since = since;
    itself.matched = reading.text.size();
  }
  return proposals;
}

/// Whether at least so many queries go on from what a branch reads.
bool Completer::are_begun(const Branch& branch, double least, const LiveState* live) const {
  const PrefixFacts& facts = branch.proposals.facts;
  const CurrentQueries current(*popular_, nullptr, live);
  return current.are_begun(branch.reading.text, least, {std::min(facts.first, facts.last), facts.last});
}

/// Add known queries that do not go on from the typed text, but were found by it or by a correction of it.
void Completer::add_elsewhere(const SearchOptions& options, const Session& session, const LiveState* live,
                              std::span<Branch> branches) const {
  if (options.any_order) {
    const auto corrections = static_cast<std::size_t>(policy_.reordered_corrections);
    for (Branch& branch : branches.first(std::min(branches.size(), 1 + corrections))) {
      const std::string& text = branch.reading.text;
      const bool few = characters_from(text, 0) < policy_.reordered_fewest_characters;
      if (are_begun(branch, few ? 1.0 : policy_.reordered_most_queries, live)) continue;
      std::vector<FoundQuery> found = elsewhere_->find(text, options.fold, live);
      share_with_found(std::move(found), policy_.reordered_log_probability, policy_, session, branch);
    }
  }
  Branch& as_typed = branches.front();
  if (!options.fold || !elsewhere_->knows_pinyin()) return;
  if (are_begun(as_typed, policy_.pinyin_most_queries, live)) return;
  std::vector<FoundQuery> found = elsewhere_->find_by_pinyin(as_typed.reading.text, live);
  share_with_found(std::move(found), policy_.pinyin_log_probability, policy_, session, as_typed);
}

Answer Completer::show(const Request& request, std::vector<Branch> branches, const LiveState* live) const {
  if (branches.size() > 1) join_branches(branches, belief_->log_probabilities(branches, policy_));
  Proposals& proposals = branches.front().proposals;
  std::vector<double>& scores = branches.front().chances.scores;
  const double shift = request.options.conditional ? 0.0 : proposals.facts.log_probability;
  std::vector<PinnedCompletion> pinned;
  for (const Pin& pin : pins_for(live, request.typed)) {
    const auto place = static_cast<std::size_t>(&proposals.at(pin.text) - proposals.list().data());
    pinned.push_back({{pin.text, scores[place] + shift, Origin::popular}, pin.position});
  }
  const double asked = request.options.min_probability;
  const bool everything = (asked < 0.0 ? policy_.min_probability : asked) == 0.0;
  if (request.options.fold && !everything) {
    const CurrentQueries current(*popular_, nullptr, live);
    const double count = current.count_of(request.typed, 0, current.size()).count;
    merge_spellings(request.typed, count, proposals.list(), scores);
  }
  std::vector<Completion> shown =
      select({request, proposals, branches.front().features, scores, live, companions_}, policy_, ranker_->words());
  if (!pinned.empty()) put_pins(std::move(pinned), request.options.count, shown);
  return {std::move(shown), proposals.facts.timed_out, proposals.facts.cost};
}

Answer Completer::from_popular(const Request& request, const LiveState* live) const {
  Proposals proposals = gather(std::vector<Reading>{{request.typed}}, Session({}), request.options,
                               Deadline(request.options.deadline_ms), live);
  std::vector<PinnedCompletion> pinned;
  const double total = std::max(proposals.facts.total, 1.0);
  for (const Pin& pin : pins_for(live, request.typed)) {
    const double share = std::max(proposals.at(pin.text).count, 0.5) / total;  // half a time, if it was never typed
    pinned.push_back({{pin.text, std::log(std::min(share, 1.0)), Origin::popular}, pin.position});
  }
  proposals.remove_if([](const Proposal& proposal) { return proposal.count <= 0.0; });
  Answer answer;
  for (Proposal& proposal : proposals.list()) {
    const double share = proposal.count * std::exp(proposal.log_reading) / proposals.facts.total;
    const std::size_t matched = proposal.matched;
    answer.completions.push_back({std::move(proposal.text), std::log(share), Origin::popular, false, matched});
  }
  sort_list(answer.completions, comes_first);
  if (answer.completions.size() > request.options.count) answer.completions.resize(request.options.count);
  if (!pinned.empty()) put_pins(std::move(pinned), request.options.count, answer.completions);
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
  SearchResult found = model_->complete({&reading, 1}, Session(request.context).queries(), options, {}, deadline);
  for (Completion& completion : found.completions) completion.matched = request.typed.size();
  return {std::move(found.completions), found.timed_out, found.cost};
}

}  // namespace halfword
