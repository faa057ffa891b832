#include "lm/neural.h"

namespace halfword {
namespace {

constexpr std::size_t short_prefix = 4;  // bytes; everybody types these, so their answers are worth keeping

/// Prefix and options as one key of the cache.
std::string key_of(std::string_view prefix, const SearchOptions& options) {
  std::string key(prefix);
  const auto append = [&](auto value) { key.append(reinterpret_cast<const char*>(&value), sizeof(value)); };
  append(options.count);
  append(options.surplus);
  append(options.beam);
  append(options.retrace);
  append(options.segmentations);
  append(options.max_pieces);
  append(options.most_read);
  append(options.merge);
  append(options.prune);
  append(options.conditional);
  append(options.echo);
  append(options.haste);
  append(options.min_probability);
  return key;
}

}  // namespace

Neural::Neural(const ModelFile& file, std::optional<Precision> precision, const std::string& kernels, CacheSizes sizes)
    : pieces_(file),
      model_(file, pieces_, precision, kernels_named(kernels)),
      opening_(model_, pieces_),
      states_(sizes.states),
      answers_(sizes.answers) {}

SearchResult Neural::complete(std::string_view prefix, const SearchOptions& options) const {
  const SearchModel model{pieces_, model_, opening_, states_};
  if (!answers_.enabled() || prefix.size() > short_prefix) return search(model, prefix, options);
  const std::string key = key_of(prefix, options);
  if (const auto known = answers_.find(key)) return *known;
  SearchResult result = search(model, prefix, options);
  if (result.in_time) answers_.insert(key, result);
  return result;
}

}  // namespace halfword
