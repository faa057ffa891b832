#include "companions.h"

#include <algorithm>

namespace halfword {
namespace {

/// A word that met companions so often is trusted half; the other half is how often words were typed at all.
constexpr double trusted_half = 5.0;

constexpr std::size_t most_context = 20;  // words

void check(bool sound) {
  if (!sound) throw ModelFileError("the words that were typed together make no sense");
}

/// Whether each number is no smaller than the one before, the first is 0 and the last is `end`.
bool rises(std::span<const std::uint32_t> values, std::size_t end) {
  return !values.empty() && values.front() == 0 && values.back() == end && std::is_sorted(values.begin(), values.end());
}

}  // namespace

Companions::Companions(const ModelFile& file)
    : begin_(file.array<std::uint32_t>("ngram.words.begin")),
      typed_(file.array<std::uint32_t>("ngram.words.typed")),
      ended_(file.array<std::uint32_t>("ngram.words.ended")),
      first_(file.array<std::uint32_t>("ngram.words.first")),
      companion_(file.array<std::uint16_t>("ngram.words.companion")),
      together_(file.array<std::uint8_t>("ngram.words.together")) {
  const std::span<const std::uint8_t> text = file.array<std::uint8_t>("ngram.words.text");
  text_ = {reinterpret_cast<const char*>(text.data()), text.size()};
  const std::size_t words = typed_.size();
  check(begin_.size() == words + 1 && first_.size() == words + 1 && ended_.size() == words);
  check(together_.size() == companion_.size() && rises(begin_, text_.size()) && rises(first_, companion_.size()));
  typed_before_.resize(words + 1);
  met_.resize(words);
  for (std::size_t index = 0; index < words; ++index) {
    check(index == 0 || word(index - 1) < word(index));
    check(typed_[index] > 0 && ended_[index] <= typed_[index]);
    typed_before_[index + 1] = typed_before_[index] + typed_[index];
    for (std::size_t place = first_[index]; place < first_[index + 1]; ++place) {
      check(companion_[place] < words && (place == first_[index] || companion_[place - 1] < companion_[place]));
      check(together_[place] > 0);
      met_[index] += together_[place];
    }
  }
}

std::string_view Companions::word(std::size_t index) const {
  return {text_.data() + begin_[index], begin_[index + 1] - begin_[index]};
}

/// The words that begin with `part`.
Companions::Range Companions::beginning_with(std::string_view part) const {
  const auto bound = [&](const auto& is_before) {
    std::size_t low = 0;
    std::size_t high = size();
    while (low < high) {
      const std::size_t middle = low + (high - low) / 2;
      if (is_before(word(middle).substr(0, part.size()))) {
        low = middle + 1;
      } else {
        high = middle;
      }
    }
    return low;
  };
  return {bound([&](std::string_view start) { return start < part; }),
          bound([&](std::string_view start) { return start <= part; })};
}

/// The different words of a text that have companions, the last first; not all of a very long one.
std::vector<std::size_t> Companions::known_words(std::string_view text) const {
  std::vector<std::size_t> known;
  while (!text.empty() && known.size() < most_context) {
    const std::size_t space = text.rfind(' ');
    const std::string_view each = text.substr(space == std::string_view::npos ? 0 : space + 1);
    text = text.substr(0, space == std::string_view::npos ? 0 : space);
    const Range range = beginning_with(each);
    if (each.empty() || range.first == range.last || word(range.first) != each || met_[range.first] == 0) continue;
    if (std::find(known.begin(), known.end(), range.first) == known.end()) known.push_back(range.first);
  }
  return known;
}

/// How likely each word of a range is beside the words of a context; 0 where it is no companion of any.
std::vector<double> Companions::weigh(std::span<const std::size_t> context, Range range) const {
  std::vector<double> weights(range.last - range.first);
  for (const std::size_t index : context) {
    const auto list = companion_.subspan(first_[index], first_[index + 1] - first_[index]);
    const double share = 1.0 / (met_[index] + trusted_half) / static_cast<double>(context.size());
    for (auto found = std::lower_bound(list.begin(), list.end(), range.first); found != list.end(); ++found) {
      if (*found >= range.last) break;
      const std::size_t place = first_[index] + static_cast<std::size_t>(found - list.begin());
      weights[*found - range.first] += together_[place] * share;
    }
  }
  return weights;
}

std::vector<LikelyText> Companions::complete(std::string_view prefix, std::size_t count) const {
  const std::size_t space = prefix.rfind(' ');
  if (space == std::string_view::npos) return {};
  const std::string_view part = prefix.substr(space + 1);
  const std::vector<std::size_t> context = known_words(prefix.substr(0, space));
  const Range range = beginning_with(part);
  if (context.empty() || range.first == range.last) return {};
  const std::vector<double> weights = weigh(context, range);
  double left = 0.0;  // what the context leaves to all words
  for (const std::size_t index : context) left += trusted_half / (met_[index] + trusted_half);
  left /= static_cast<double>(context.size()) * static_cast<double>(typed_before_.back());
  double total = left * static_cast<double>(typed_before_[range.last] - typed_before_[range.first]);
  for (const double weight : weights) total += weight;
  std::vector<std::pair<double, std::size_t>> best;
  for (std::size_t index = range.first; index < range.last; ++index) {
    const double weight = weights[index - range.first];
    if (weight == 0.0 || word(index).size() == part.size()) continue;  // none of them, or the prefix itself
    const double ends = (ended_[index] + 0.3) / (typed_[index] + 1.0);
    best.emplace_back(-(weight + left * typed_[index]) / total * ends, index);
  }
  const std::size_t kept = std::min(count, best.size());
  std::partial_sort(best.begin(), best.begin() + static_cast<std::ptrdiff_t>(kept), best.end());
  std::vector<LikelyText> found;
  for (std::size_t i = 0; i < kept; ++i) {
    found.push_back({std::string(prefix).append(word(best[i].second).substr(part.size())), -best[i].first});
  }
  return found;
}

}  // namespace halfword
