#include "rank/ranker.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <limits>
#include <utility>

#include "rank/weights.h"

namespace halfword {
namespace {

Mixture read_mixture(const ModelFile& file) {
  const std::span<const float> values = read_weights(file, "ranker.mixture", 6);
  const auto is_share = [](float value) { return value >= 0.0F && value < 1.0F; };
  const bool sound = is_share(values[0]) && values[1] >= 0.0F && values[2] >= 0.0F && values[2] <= 1.0F &&
                     values[3] > 0.0F && is_share(values[4]) && is_share(values[5]);
  if (!sound) throw ModelFileError("ranker.mixture makes no sense");
  return {values[0], values[1], values[2], values[3], values[4], values[5]};
}

}  // namespace

RankerWeights::RankerWeights(const ModelFile& file, const std::string& part) {
  const std::size_t known = file.array<float>(part + ".mean").size();
  const std::size_t units = file.array<float>(part + ".output").size();
  if (known < prefix_features || known > feature_names.size()) throw ModelFileError(part + ".mean makes no sense");
  if (units > most_hidden) throw ModelFileError(part + " has too many hidden units");
  mean_ = read_weights(file, part + ".mean", known);
  scale_ = read_weights(file, part + ".scale", known);
  linear_ = read_weights(file, part + ".linear", known);
  none_ = read_weights(file, part + ".none", prefix_features + 1);
  const std::span<const float> by_unit = read_weights(file, part + ".hidden", units * known);
  hidden_.resize(by_unit.size());
  for (std::size_t i = 0; i < by_unit.size(); ++i) hidden_[i % known * units + i / known] = by_unit[i];
  hidden_bias_ = read_weights(file, part + ".hidden_bias", units);
  output_ = read_weights(file, part + ".output", units);
  const auto positive = [](float value) { return value >= 1e-6F; };
  if (!std::all_of(scale_.begin(), scale_.end(), positive)) throw ModelFileError(part + ".scale makes no sense");
}

/// Add what some features say. Sixteen hidden units at a time stay in registers, while all features are added to them.
void RankerWeights::add(std::span<const std::size_t> which, const Features& features, Sums& sums) const {
  using Floats [[gnu::vector_size(16)]] = float;
  constexpr std::size_t vectors = 4;
  constexpr std::size_t width = vectors * sizeof(Floats) / sizeof(float);
  Features scaled;
  for (std::size_t i = 0; i < which.size(); ++i) {
    scaled[i] = (features[which[i]] - mean_[which[i]]) / scale_[which[i]];
    sums.linear += linear_[which[i]] * scaled[i];
  }
  const std::size_t units = output_.size();
  std::size_t unit = 0;
  for (; unit + width <= units; unit += width) {
    std::array<Floats, vectors> added;
    std::memcpy(&added, sums.hidden.data() + unit, sizeof(added));
    for (std::size_t i = 0; i < which.size(); ++i) {
      std::array<Floats, vectors> row;
      std::memcpy(&row, hidden_.data() + which[i] * units + unit, sizeof(row));
      for (std::size_t part = 0; part < vectors; ++part) added[part] += row[part] * scaled[i];
    }
    std::memcpy(sums.hidden.data() + unit, &added, sizeof(added));
  }
  for (; unit < units; ++unit) {
    for (std::size_t i = 0; i < which.size(); ++i) sums.hidden[unit] += hidden_[which[i] * units + unit] * scaled[i];
  }
}

double RankerWeights::worth_of(Sums& sums) const {
  const std::size_t units = output_.size();
  std::vector<float>& hidden = sums.hidden;
  for (std::size_t unit = 0; unit < units; ++unit) hidden[unit] *= output_[unit] / (1.0F + std::abs(hidden[unit]));
  float worth = sums.linear;
  for (const float each : hidden) worth += each;
  return worth;
}

double RankerWeights::worth_of_none(const Features& features) const {
  float worth = none_[prefix_features];
  for (std::size_t i = 0; i < prefix_features; ++i) worth += none_[i] * (features[i] - mean_[i]) / scale_[i];
  return worth;
}

Chances RankerWeights::chances(std::span<const Features> features) const {
  if (features.empty()) return {};
  std::vector<double> worths;
  worths.reserve(features.size());
  // What all proposals have in common is added up once: the features of the prefix, and those of a session if there is
  // none.
  Sums shared{{hidden_bias_.begin(), hidden_bias_.end()}};
  std::vector<std::size_t> common;
  std::vector<std::size_t> differing;
  common.reserve(mean_.size());
  differing.reserve(mean_.size());
  for (std::size_t feature = 0; feature < mean_.size(); ++feature) {
    const float value = features.front()[feature];
    const auto same = [&](const Features& each) { return each[feature] == value; };
    (std::all_of(features.begin() + 1, features.end(), same) ? common : differing).push_back(feature);
  }
  add(common, features.front(), shared);
  Sums sums;
  for (const Features& each : features) {
    sums = shared;
    add(differing, each, sums);
    worths.push_back(worth_of(sums));
  }
  const double none = worth_of_none(features.front());
  const double peak = std::max(none, *std::max_element(worths.begin(), worths.end()));
  double sum = std::exp(none - peak);
  for (const double worth : worths) sum += std::exp(worth - peak);
  const double normaliser = peak + std::log(sum);
  for (double& worth : worths) worth -= normaliser;
  return {std::move(worths), none - normaliser};
}

Ranker::Ranker(const ModelFile& file) : mixture_(read_mixture(file)), words_(file), alone_(file, "ranker") {
  if (file.holds("ranker.session.mean")) in_session_.emplace(file, "ranker.session");
}

Chances Ranker::chances(std::span<const Features> features) const {
  if (features.empty()) return {};
  const bool has_context = features.front()[static_cast<std::size_t>(Feature::session_size)] > 0.0F;
  return (has_context && in_session_ ? *in_session_ : alone_).chances(features);
}

}  // namespace halfword
