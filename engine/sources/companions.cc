#include "sources/companions.h"

#include <algorithm>

namespace halfword {
namespace {

/// The words that stood beside those of a context, and a weight by word: all 0 but theirs. A thread keeps them, for
/// there may be many.
struct Met {
  std::vector<std::uint16_t> words;
  std::vector<double> weights;
};

Met& met_of_thread() {
  thread_local Met met;
  return met;
}

void check(bool sound) {
  if (!sound) throw ModelFileError("the words that were typed together make no sense");
}

/// Whether each number is no smaller than the one before, the first is 0 and the last is `end`.
bool rises(std::span<const std::uint32_t> values, std::size_t end) {
  return !values.empty() && values.front() == 0 && values.back() == end && std::is_sorted(values.begin(), values.end());
}

}  // namespace

Companions::Companions(const ModelFile& file)
    : typed_(file.array<std::uint32_t>("ngram.words.typed")),
      ended_(file.array<std::uint32_t>("ngram.words.ended")),
      first_(file.array<std::uint32_t>("ngram.words.first")),
      companion_(file.array<std::uint16_t>("ngram.words.companion")),
      together_(file.array<std::uint8_t>("ngram.words.together")) {
  const std::span<const std::uint8_t> text = file.array<std::uint8_t>("ngram.words.text");
  text_ = {reinterpret_cast<const char*>(text.data()), text.size()};
  const std::size_t words = typed_.size();
  begin_.push_back(0);
  for (const std::uint8_t length : file.array<std::uint8_t>("ngram.words.length")) {
    begin_.push_back(begin_.back() + length);
  }
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

/// The number of the first word that is not before `part`, or, of those, that does not begin with it.
std::size_t Companions::bound(std::string_view part, bool beyond) const {
  std::size_t low = 0;
  std::size_t high = size();
  while (low < high) {
    const std::size_t middle = low + (high - low) / 2;
    const int order = word(middle).substr(0, part.size()).compare(part);
    if (order < 0 || (beyond && order == 0)) {
      low = middle + 1;
    } else {
      high = middle;
    }
  }
  return low;
}

/// The words that begin with `part`.
Companions::Range Companions::beginning_with(std::string_view part) const {
  return {bound(part, false), bound(part, true)};
}

/// The number of a word; that of no word, `size()`, if it is not listed.
std::size_t Companions::find(std::string_view wanted) const {
  const std::size_t place = bound(wanted, false);
  return place < size() && word(place) == wanted ? place : size();
}

/// Whether two words were typed together; a word that is not listed was with none.
bool Companions::together(std::size_t one, std::size_t other) const {
  if (one == size() || other == size()) return false;
  const auto list = companion_.subspan(first_[one], first_[one + 1] - first_[one]);
  return std::binary_search(list.begin(), list.end(), other);
}

/// Where the companions of a word lie that are in a range.
Companions::Range Companions::places_of(std::size_t index, Range range) const {
  const auto list = companion_.subspan(first_[index], first_[index + 1] - first_[index]);
  const auto place = [&](std::size_t bound) {
    return first_[index] + static_cast<std::size_t>(std::lower_bound(list.begin(), list.end(), bound) - list.begin());
  };
  return {place(range.first), place(range.last)};
}

/// The different words of a text that have companions, the last first; not all of a very long one, and none that has
/// very many in the range: it says little, and takes long.
std::vector<std::size_t> Companions::known_words(std::string_view text, Range range, const Policy& policy) const {
  std::vector<std::size_t> known;
  while (!text.empty() && static_cast<double>(known.size()) < policy.companions_most_words) {
    const std::size_t space = text.rfind(' ');
    const std::string_view each = text.substr(space == std::string_view::npos ? 0 : space + 1);
    text = text.substr(0, space == std::string_view::npos ? 0 : space);
    const Range found = beginning_with(each);
    if (each.empty() || found.first == found.last || word(found.first) != each || met_[found.first] == 0) continue;
    const Range places = places_of(found.first, range);
    if (static_cast<double>(places.last - places.first) > policy.companions_most_met) continue;
    if (std::find(known.begin(), known.end(), found.first) == known.end()) known.push_back(found.first);
  }
  return known;
}

/// How often a word ends the queries that hold it.
double Companions::ending(std::size_t index, const Policy& policy) const {
  return (ended_[index] + policy.companions_end_hits) / (typed_[index] + policy.companions_end_trials);
}

/// Note the companions of a context among the words of a range, and how likely each is beside it.
void Companions::weigh(std::span<const std::size_t> context, Range range, double half_trust) const {
  Met& met = met_of_thread();
  if (met.weights.size() < size()) met.weights.resize(size());
  met.words.clear();
  for (const std::size_t index : context) {
    const double share = 1.0 / (met_[index] + half_trust) / static_cast<double>(context.size());
    const Range places = places_of(index, range);
    for (std::size_t place = places.first; place < places.last; ++place) {
      double& weight = met.weights[companion_[place]];
      if (weight == 0.0) met.words.push_back(companion_[place]);
      weight += together_[place] * share;
    }
  }
}

/// The likeliest of the words that met the context, but none of `shortest` bytes, which was typed already. What is
/// less likely than the last of a whole page even if it always ended a query is left at once.
std::vector<Companions::Ending> Companions::likeliest(std::size_t shortest, double left, double total,
                                                      const Policy& policy) const {
  const Met& met = met_of_thread();
  const double surest = std::max(
      1.0, policy.companions_end_hits / policy.companions_end_trials);  // how often a word ends a query at most
  const auto most = static_cast<std::size_t>(policy.page);
  std::vector<Ending> best;  // a heap, the least likely on top
  if (most == 0) return best;
  best.reserve(most + 1);
  double least = 0.0;
  for (const std::size_t index : met.words) {
    const double beside = (met.weights[index] + left * typed_[index]) / total;
    if (beside * surest < least || word(index).size() == shortest) continue;
    best.push_back({index, beside * ending(index, policy)});
    std::push_heap(best.begin(), best.end());
    if (best.size() <= most) continue;
    std::pop_heap(best.begin(), best.end());
    best.pop_back();
    least = best.front().worth;
  }
  std::sort_heap(best.begin(), best.end());
  return best;
}

/// Whether a word joins others: it seldom ends a query.
bool Companions::joins(std::size_t index, const Policy& policy) const {
  return index != size() && ending(index, policy) < policy.odd_ending;
}

bool Companions::is_odd(std::string_view text, std::size_t matched, const Policy& policy) const {
  std::size_t begin = text.substr(0, matched + 1).rfind(' ') + 1;  // of the first word that is not typed whole
  if (begin == 0 && text.find(' ') == std::string_view::npos) return false;  // a single word
  constexpr std::size_t none = SIZE_MAX;
  std::size_t before = none;  // the word before
  std::size_t joined = none;  // the last one that does not join others
  for (std::size_t end = begin; end > 0 && joined == none;) {
    const std::size_t start = end == 1 ? 0 : text.rfind(' ', end - 2) + 1;
    const std::size_t index = find(text.substr(start, end - 1 - start));
    if (before == none) before = index;
    if (!joins(index, policy)) joined = index;
    end = start;
  }
  while (true) {
    const std::size_t end = std::min(text.find(' ', begin), text.size());
    const std::size_t index = find(text.substr(begin, end - begin));
    const bool joins_others = joins(index, policy);
    if (before != none && !together(before, index)) return true;
    if (!joins_others && joined != none && !together(joined, index)) return true;
    before = index;
    if (!joins_others) joined = index;
    if (end == text.size()) return joins_others;
    begin = end + 1;
  }
}

void Companions::propose(const Question& question, Proposals& proposals) const {
  const Policy& policy = question.policy;
  if (proposals.facts.longer_distinct > policy.companions_most_queries) return;
  const std::string_view prefix = question.reading.text;
  const std::size_t space = prefix.rfind(' ');
  if (space == std::string_view::npos) return;
  const std::string_view part = prefix.substr(space + 1);
  const Range range = beginning_with(part);
  if (range.first == range.last) return;
  const std::vector<std::size_t> context = known_words(prefix.substr(0, space), range, policy);
  if (context.empty()) return;
  const double half_trust = policy.companions_half_trust;
  weigh(context, range, half_trust);
  double left = 0.0;  // what the context leaves to all words
  for (const std::size_t index : context) left += half_trust / (met_[index] + half_trust);
  left /= static_cast<double>(context.size()) * static_cast<double>(typed_before_.back());
  double total = left * static_cast<double>(typed_before_[range.last] - typed_before_[range.first]);
  Met& met = met_of_thread();
  for (const std::size_t index : met.words) total += met.weights[index];
  const std::vector<Ending> best = likeliest(part.size(), left, total, policy);
  for (const std::size_t index : met.words) met.weights[index] = 0.0;
  for (const Ending& each : best) {
    std::string text = std::string(prefix).append(word(each.index).substr(part.size()));
    proposals.at(std::move(text)).companions = each.worth;
  }
}

}  // namespace halfword
