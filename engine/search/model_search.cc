#include "search/model_search.h"

#include "search/tuning.h"

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
                         CacheSizes sizes)
    : pieces_(file),
      model_(file, pieces_, precision, kernels_named(kernels)),
      opening_(model_, pieces_),
      states_(sizes.states),
      answers_(sizes.answers) {}

SearchResult ModelSearch::complete(std::span<const Reading> readings, const SearchOptions& options,
                                   const SearchLimits& limits, const Deadline& deadline) const {
  const SearchModel model{pieces_, model_, opening_, states_};
  const auto look = [&] { return search(model, readings, options, limits, deadline); };
  if (!answers_.enabled() || readings.front().text.size() > tuning.short_prefix) return look();
  const std::string key = key_of(readings, options, limits);
  if (const auto known = answers_.find(key)) return *known;
  SearchResult result = look();
  if (!result.timed_out && result.completions.size() <= tuning.most_kept) answers_.insert(key, result);
  return result;
}

}  // namespace halfword
