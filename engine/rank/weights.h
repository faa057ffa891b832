#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <span>
#include <string>

#include "store/model_file.h"

namespace halfword {

/// Hidden units of a small network of the ranking; more is a damaged file.
inline constexpr std::size_t most_hidden = 1024;

/// An array of fitted weights; refused if it has another size or values that no fit gives.
inline std::span<const float> read_weights(const ModelFile& file, const std::string& name, std::size_t size) {
  const std::span<const float> values = file.array<float>(name);
  const auto sound = [](float value) { return std::isfinite(value) && std::abs(value) < 1e6F; };
  if (values.size() != size || !std::all_of(values.begin(), values.end(), sound)) {
    throw ModelFileError(name + " makes no sense");
  }
  return values;
}

}  // namespace halfword
