#pragma once

#include <string>

namespace halfword {

/// Where a completion came from.
enum class Source { popular, model, both };

/// One way to finish a prefix; the score is the natural logarithm of p(text | prefix).
struct Completion {
  std::string text;
  double score;
  Source source;
};

/// A text and how likely it is to be the whole query.
struct LikelyText {
  std::string text;
  double probability;
};

/// The order of answers: higher scores first, ties by text.
inline bool comes_first(const Completion& left, const Completion& right) {
  return left.score != right.score ? left.score > right.score : left.text < right.text;
}

}  // namespace halfword
