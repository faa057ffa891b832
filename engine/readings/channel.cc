#include "readings/channel.h"

#include <algorithm>
#include <cmath>

namespace halfword {
namespace {

constexpr std::size_t other_letters = 28;

}  // namespace

Channel::Channel(const ModelFile& file) : cost_(file.array<float>("channel.cost")) {
  const auto sound = [](float cost) { return std::isfinite(cost) && cost >= 0.0F && cost < 100.0F; };
  if (cost_.size() != 4 * classes * classes + 3 || !std::all_of(cost_.begin(), cost_.end(), sound)) {
    throw ModelFileError("the costs of typing mistakes make no sense");
  }
}

std::size_t Channel::class_of(char32_t letter) {
  if (letter >= 'a' && letter <= 'z') return letter - 'a';
  if (letter >= '0' && letter <= '9') return Channel::digits;
  return letter < 128 ? signs : other_letters;
}

}  // namespace halfword
