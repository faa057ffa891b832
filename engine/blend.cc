#include "blend.h"

#include <algorithm>
#include <cmath>
#include <string>
#include <unordered_map>
#include <vector>

#include "escape.h"

namespace halfword {
namespace {

constexpr double unfitted_kappa = 8.0;

/// A text with the evidence for it.
struct Candidate {
  std::string text;
  double count;  // how often it was typed
  double score;  // log p_model(text | prefix)
  Source source;
};

}  // namespace

Blend::Blend(const ModelFile& file, const Popular& popular, const Neural& neural)
    : popular_(popular), neural_(neural), kappa_(unfitted_kappa) {
  if (!file.holds("blend.kappa")) return;
  const std::span<const float> fitted = file.array<float>("blend.kappa");
  if (fitted.size() != 1 || !(fitted[0] > 0.0F)) throw ModelFileError("the weight of the model is no positive number");
  kappa_ = fitted[0];
}

SearchResult Blend::complete(std::string_view prefix, const SearchOptions& options) const {
  SearchOptions asked = options;
  asked.conditional = true;
  asked.min_probability = 0.0;
  asked.surplus = options.count;  // what ended just below the best may have been typed often
  SearchResult result = neural_.complete(prefix, asked);
  const TypedQueries typed = popular_.most_typed(prefix, options.count, options.echo);

  std::vector<Candidate> candidates;
  candidates.reserve(result.completions.size() + typed.queries.size());
  for (Completion& found : result.completions) {
    const auto count = static_cast<double>(popular_.count_of(found.text));
    candidates.push_back({std::move(found.text), count, found.score, count > 0.0 ? Source::both : Source::model});
  }
  const std::size_t found = candidates.size();
  const double least = found > 0 ? candidates.back().score : 0.0;
  for (const TypedQuery& query : typed.queries) {
    const auto same = [&](const Candidate& candidate) { return candidate.text == query.text; };
    if (std::any_of(candidates.begin(), candidates.begin() + static_cast<std::ptrdiff_t>(found), same)) continue;
    const double score = std::min(least, neural_.remembered_score(query.text, result.mass));
    candidates.push_back({query.text, static_cast<double>(query.count), score, Source::popular});
  }

  const double total = static_cast<double>(typed.total) + kappa_;
  result.completions.clear();
  for (Candidate& candidate : candidates) {
    const double evidence = candidate.count + kappa_ * std::exp(candidate.score);
    const double score = std::log(evidence / total) + (options.conditional ? 0.0 : result.mass);
    if (evidence / total < options.min_probability) continue;
    result.completions.push_back({std::move(candidate.text), score, candidate.source});
  }
  std::sort(result.completions.begin(), result.completions.end(), comes_first);
  if (result.completions.size() > options.count) result.completions.resize(options.count);
  return result;
}

}  // namespace halfword
