#include "rank/ranker.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace halfword {
namespace {

constexpr std::size_t most_hidden = 1024;

std::span<const float> read(const ModelFile& file, const std::string& name, std::size_t size) {
  const std::span<const float> values = file.array<float>("ranker." + name);
  const auto sound = [](float value) { return std::isfinite(value) && std::abs(value) < 1e6F; };
  if (values.size() != size || !std::all_of(values.begin(), values.end(), sound)) {
    throw ModelFileError("the ranker's " + name + " makes no sense");
  }
  return values;
}

Mixture read_mixture(const ModelFile& file) {
  const std::span<const float> values = read(file, "mixture", 6);
  const auto is_share = [](float value) { return value >= 0.0F && value < 1.0F; };
  const bool sound = is_share(values[0]) && values[1] >= 0.0F && values[2] >= 0.0F && values[2] <= 1.0F &&
                     values[3] > 0.0F && is_share(values[4]) && is_share(values[5]);
  if (!sound) throw ModelFileError("the ranker's mixture makes no sense");
  return {values[0], values[1], values[2], values[3], values[4], values[5]};
}

}  // namespace

Ranker::Ranker(const ModelFile& file) : mixture_(read_mixture(file)), words_(file) {
  const std::size_t known = file.array<float>("ranker.mean").size();
  const std::size_t units = file.array<float>("ranker.output").size();
  if (known < prefix_features || known > feature_names.size()) throw ModelFileError("the ranker's mean makes no sense");
  if (units > most_hidden) throw ModelFileError("the ranker has too many hidden units");
  mean_ = read(file, "mean", known);
  scale_ = read(file, "scale", known);
  linear_ = read(file, "linear", known);
  none_ = read(file, "none", prefix_features + 1);
  const std::span<const float> by_unit = read(file, "hidden", units * known);
  hidden_.resize(by_unit.size());
  for (std::size_t i = 0; i < by_unit.size(); ++i) hidden_[i % known * units + i / known] = by_unit[i];
  hidden_bias_ = read(file, "hidden_bias", units);
  output_ = read(file, "output", units);
  const auto positive = [](float value) { return value >= 1e-6F; };
  if (!std::all_of(scale_.begin(), scale_.end(), positive)) throw ModelFileError("the ranker's scale makes no sense");
}

double Ranker::worth_of(const Features& features, std::vector<float>& sums) const {
  const std::size_t units = output_.size();
  sums.assign(hidden_bias_.begin(), hidden_bias_.end());
  float worth = 0.0F;
  for (std::size_t i = 0; i < mean_.size(); ++i) {
    const float scaled = (features[i] - mean_[i]) / scale_[i];
    worth += linear_[i] * scaled;
    const float* row = hidden_.data() + i * units;
    for (std::size_t unit = 0; unit < units; ++unit) sums[unit] += row[unit] * scaled;
  }
  for (std::size_t unit = 0; unit < units; ++unit) sums[unit] *= output_[unit] / (1.0F + std::abs(sums[unit]));
  for (const float sum : sums) worth += sum;
  return worth;
}

double Ranker::worth_of_none(const Features& features) const {
  float worth = none_[prefix_features];
  for (std::size_t i = 0; i < prefix_features; ++i) worth += none_[i] * (features[i] - mean_[i]) / scale_[i];
  return worth;
}

std::vector<double> Ranker::log_probabilities(std::span<const Features> features) const {
  if (features.empty()) return {};
  std::vector<double> worths;
  worths.reserve(features.size());
  std::vector<float> sums(output_.size());
  for (const Features& each : features) worths.push_back(worth_of(each, sums));
  const double none = worth_of_none(features.front());
  const double peak = std::max(none, *std::max_element(worths.begin(), worths.end()));
  double sum = std::exp(none - peak);
  for (const double worth : worths) sum += std::exp(worth - peak);
  const double normaliser = peak + std::log(sum);
  for (double& worth : worths) worth -= normaliser;
  return worths;
}

}  // namespace halfword
