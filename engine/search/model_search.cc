#include "search/model_search.h"

#include <utility>

#include "search/tuning.h"
#include "text/escape.h"

namespace halfword {
namespace {

/// All that an answer depends on, as one key.
std::string key_of(std::span<const Reading> readings, const SearchOptions& options, const SearchLimits& limits) {
  std::string key;
  const auto append = [&](auto value) { key.append(reinterpret_cast<const char*>(&value), sizeof(value)); };
  for (const Reading& reading : readings) {
    key += reading.text;
    key += '\0';
    append(reading.log_probability);
  }
  append(limits.surplus);
  append(limits.most_read);
  append(limits.network_least);
  append(limits.least);
  append(limits.least_found);
  append(options.count);
  append(options.beam);
  append(options.retrace);
  append(options.segmentations);
  append(options.max_pieces);
  append(options.merge);
  append(options.prune);
  append(options.conditional);
  append(options.echo);
  append(options.haste);
  append(options.min_probability);
  return key;
}

}  // namespace

ModelSearch::ModelSearch(const ModelFile& file, std::optional<Precision> precision, const std::string& kernels,
                         CacheSizes sizes, std::shared_ptr<const Ngram> memory)
    : pieces_(file),
      model_(file, pieces_, precision, kernels_named(kernels), std::move(memory)),
      opening_(model_, pieces_, model_.memory_alone() ? 0 : sizes.opening),
      states_(sizes.states),
      answers_(sizes.answers),
      earlier_(std::min(sizes.states, tuning.earlier_queries)) {}

/// The queries of a session as the pointer sees them. Those that are not known from a keystroke before are read, all
/// together.
std::vector<std::shared_ptr<const EarlierQuery>> ModelSearch::read_earlier(
    std::span<const std::string_view> session) const {
  std::vector<std::shared_ptr<const EarlierQuery>> found;
  std::vector<std::size_t> missing;
  std::vector<std::vector<PieceId>> pieces;
  for (const std::string_view query : session) {
    found.push_back(earlier_.enabled() ? earlier_.find(std::string(query)) : nullptr);
    if (found.back()) continue;
    missing.push_back(found.size() - 1);
    pieces.push_back(pieces_.segment(escape(query)));
  }
  if (!missing.empty()) {
    std::vector<EarlierQuery> read = model_.read_earlier(pieces);
    for (std::size_t i = 0; i < missing.size(); ++i) {
      const auto shared = std::make_shared<const EarlierQuery>(std::move(read[i]));
      found[missing[i]] = shared;
      if (earlier_.enabled()) earlier_.insert(std::string(session[missing[i]]), *shared);
    }
  }
  return found;
}

void ModelSearch::expect(std::span<const std::string_view> session) const {
  if (model_.copies() && earlier_.enabled()) read_earlier(session);
}

SearchResult ModelSearch::complete(std::span<const Reading> readings, std::span<const std::string_view> session,
                                   const SearchOptions& options, const SearchLimits& limits,
                                   const Deadline& deadline) const {
  std::optional<Earlier> earlier;
  if (!session.empty() && model_.copies()) earlier = model_.join(read_earlier(session));
  const SearchModel model{pieces_, model_, opening_, states_, earlier ? &*earlier : nullptr};
  const auto look = [&] { return search(model, readings, options, limits, deadline); };
  if (earlier || !answers_.enabled() || readings.front().text.size() > tuning.short_prefix) return look();
  const std::string key = key_of(readings, options, limits);
  if (const auto known = answers_.find(key)) return *known;
  SearchResult result = look();
  if (!result.timed_out && result.completions.size() <= tuning.most_kept) answers_.insert(key, result);
  return result;
}

}  // namespace halfword
