#pragma once

#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "rank/belief.h"
#include "rank/policy.h"
#include "rank/ranker.h"
#include "readings/corrections.h"
#include "readings/folding.h"
#include "readings/homophones.h"
#include "request.h"
#include "search/generation_cache.h"
#include "search/model_search.h"
#include "sources/companions.h"
#include "sources/elsewhere.h"
#include "sources/popular_source.h"
#include "sources/source.h"
#include "store/displays.h"
#include "store/live.h"
#include "store/model_file.h"
#include "store/popular.h"

namespace halfword {

/// Which parts of a model file are used, and how.
struct Settings {
  bool popular;
  bool memory;
  bool network;
  Precision precision;
  std::string kernels;  // an instruction set; the fastest if empty
  CacheSizes caches;
};

/// An answer in its final form, and the options that it was asked with.
struct KeptAnswer {
  SearchOptions options;
  Answer answer;
};

/// The whole way from a request to an answer: readings, sources, ranker, policy. Never changes once loaded, but for its
/// caches and live changes, so one instance serves every thread.
///
/// A model with popularity and a language model ranks the proposals of all sources. A model with one of the two alone
/// answers by that source's own probabilities: shares of what was typed, or the language model's.
class Completer {
 public:
  Completer(const ModelFile& file, const Policy& policy, const Settings& settings);

  Answer complete(const Request& request) const;

  /// The readings of the typed text, itself first, each with what the sources propose, its features and probabilities:
  /// what the ranker and the belief in readings are fitted to.
  std::vector<Branch> branches(const Request& request) const;

  /// Whether a proposal that nobody typed reads oddly: as far as can be told by which words go together.
  bool is_odd(const Proposal& proposal) const;

  /// What the typed text of a request may stand for, itself first, and what it may stand for if it was mistyped.
  std::vector<Reading> readings_of(const Request& request) const;
  std::vector<Reading> corrections_of(const Request& request) const;

  /// The language model; throws where there is none.
  const ModelSearch& language_model() const;

  /// Changes over popularity; throws where there is none.
  Live& live() const;

  /// How often a query was typed, with all changes; 0 without popularity.
  double count_of(std::string_view query) const;

  /// How many different queries popularity knows.
  std::size_t queries() const { return popular_ ? popular_->size() : 0; }

 private:
  Answer answer_to(const Request& request, const LiveState* live) const;
  Answer from_popular(const Request& request, const LiveState* live) const;
  Answer from_model(const Request& request) const;
  std::vector<Reading> readings_of(const Request& request, const LiveState* live) const;
  std::vector<Reading> corrections_of(const Request& request, const LiveState* live) const;
  std::vector<Branch> branches(const Request& request, const LiveState* live) const;
  Branch ranked(Reading reading, Proposals proposals, const LiveState* live) const;
  Proposals gather(std::span<const Reading> readings, const Session& session, const SearchOptions& options,
                   const Deadline& deadline, const LiveState* live, bool corrected = false) const;
  Proposals gather_corrected(const Reading& correction, const Session& session, const SearchOptions& options,
                             const Deadline& deadline, const LiveState* live) const;
  bool are_begun(const Branch& branch, double least, const LiveState* live) const;
  void add_elsewhere(const SearchOptions& options, const Session& session, const LiveState* live,
                     std::span<Branch> branches) const;
  Answer show(const Request& request, std::vector<Branch> branches, const LiveState* live) const;
  std::shared_ptr<const LiveState> changes() const;

  Policy policy_;
  std::optional<Popular> popular_;
  std::optional<FoldedQueries> folded_;
  std::optional<WrittenForms> written_;
  std::optional<Corrections> corrections_;
  std::optional<Homophones> homophones_;
  std::optional<Elsewhere> elsewhere_;
  std::optional<ModelSearch> model_;
  std::optional<ModelSearch> without_network_;  // the same model, where it has both a network and a memory
  std::optional<Ranker> ranker_;
  std::optional<Belief> belief_;  // in corrections
  Displays displays_;
  std::vector<std::unique_ptr<Source>> sources_;  // the first one is popularity
  const Companions* companions_ = nullptr;        // one of them; null: there is none
  std::unique_ptr<Live> live_;
  mutable GenerationCache<KeptAnswer> answers_;  // to short prefixes without context
};

}  // namespace halfword
