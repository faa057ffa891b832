#include "sources/companions.h"

#include <algorithm>
#include <utility>

#include "store/coded_numbers.h"

namespace halfword {
namespace {

constexpr std::size_t cursor_step = 64;  // one companion of so many has a cursor

[[noreturn]] void refuse_companions() { throw ModelFileError("the words that were typed together make no sense"); }

void check(bool sound) {
  if (!sound) refuse_companions();
}

/// Take a number from the front of `rest`; false if there is none.
bool take_companion_count(std::span<const std::uint8_t>& rest, std::uint32_t& count) {
  std::size_t number = 0;
  const bool taken = take_number(rest, number) && number <= UINT32_MAX;
  count = static_cast<std::uint32_t>(number);
  return taken;
}

}  // namespace

Companions::Companions(const ModelFile& file)
    : companion_(file.array<std::uint8_t>("ngram.words.companion")),
      together_(file.array<std::uint8_t>("ngram.words.together")) {
  const std::span<const std::uint8_t> text = file.array<std::uint8_t>("ngram.words.text");
  text_ = {reinterpret_cast<const char*>(text.data()), text.size()};
  begin_.push_back(0);
  for (const std::uint8_t length : file.array<std::uint8_t>("ngram.words.length")) {
    begin_.push_back(begin_.back() + length);
  }
  check(begin_.back() == text_.size() && companion_.size() < UINT32_MAX);
  std::span<const std::uint8_t> counts = file.array<std::uint8_t>("ngram.words.counts");
  Cursor cursor;
  words_.resize(begin_.size() - 1);
  typed_before_.push_back(0);
  for (std::size_t index = 0; index < words_.size(); ++index) {
    check(index == 0 || word(index - 1) < word(index));
    Word& each = words_[index];
    check(take_companion_count(counts, each.typed) && take_companion_count(counts, each.ended) &&
          take_companion_count(counts, each.number));
    check(each.typed > 0 && each.ended <= each.typed);
    typed_before_.push_back(typed_before_.back() + each.typed);
    list_companions(each, cursor);
  }
  check(counts.empty() && cursor.at == companion_.size() && cursor.together == together_.size());
}

/// Read the companions of the next word, and check them.
void Companions::list_companions(Word& word, Cursor& cursor) {
  const std::uint8_t* const begin = companion_.data();
  const std::uint8_t* const end = begin + companion_.size();
  const std::uint8_t* at = begin + cursor.at;
  const std::span<const std::uint8_t> together = together_;
  const std::size_t words = size();
  std::size_t often = cursor.together;
  std::size_t companion = 0;
  std::uint32_t met = 0;
  word.first = static_cast<std::uint32_t>(cursors_.size());
  for (std::size_t place = 0; place < word.number; ++place) {
    if (place % cursor_step == 0) {
      cursors_.push_back({static_cast<std::uint32_t>(companion), static_cast<std::uint32_t>(at - begin),
                          static_cast<std::uint32_t>(often)});
    }
    const std::size_t before = companion;
    std::size_t step = 0;
    check((at < end && at[0] < 128) || (end - at > 1 && at[1] < 128) || (end - at > 2 && at[2] < 128));
    at = take_small(at, step);
    companion += step / 2;
    check(companion < words && (companion > before || place == 0));
    met += 1;
    if (step % 2 == 0) continue;
    check(often < together.size() && together[often] > 1);
    met += together[often++] - 1U;
  }
  word.met = met;
  cursor = {0, static_cast<std::uint32_t>(at - begin), static_cast<std::uint32_t>(often)};
}

/// Call `visit` with each companion of a word that lies in a range, and how often they stood together.
template <typename Visit>
void Companions::visit_companions(std::size_t index, Range range, const Visit& visit) const {
  const Word& word = words_[index];
  std::size_t left = word.number;
  if (left == 0) return;
  std::size_t skipped = 0;  // cursors: the last one before which no companion lies in the range
  for (std::size_t high = (left + cursor_step - 1) / cursor_step; high - skipped > 1;) {
    const std::size_t middle = skipped + (high - skipped) / 2;
    (cursors_[word.first + middle].companion < range.first ? skipped : high) = middle;
  }
  const Cursor& cursor = cursors_[word.first + skipped];
  const std::uint8_t* at = companion_.data() + cursor.at;
  const std::uint8_t* together = together_.data() + cursor.together;
  std::size_t companion = cursor.companion;
  for (left -= skipped * cursor_step; left > 0; --left) {
    std::size_t step = 0;
    at = take_small(at, step);
    companion += step / 2;
    if (companion >= range.last) return;
    const std::uint32_t count = step % 2 != 0 ? *together++ : 1;
    if (companion >= range.first) visit(companion, count);
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
std::vector<std::size_t> Companions::known_words(std::string_view text, std::size_t most) const {
  std::vector<std::size_t> known;
  while (!text.empty() && known.size() < most) {
    const std::size_t space = text.rfind(' ');
    const std::string_view each = text.substr(space == std::string_view::npos ? 0 : space + 1);
    text = text.substr(0, space == std::string_view::npos ? 0 : space);
    const Range range = beginning_with(each);
    if (each.empty() || range.first == range.last || word(range.first) != each || words_[range.first].number == 0)
      continue;
    if (std::find(known.begin(), known.end(), range.first) == known.end()) known.push_back(range.first);
  }
  return known;
}

/// The companions of a context among the words of a range, and how likely each is beside it.
std::vector<Companions::Weighed> Companions::weigh(std::span<const std::size_t> context, Range range,
                                                   double half_trust) const {
  thread_local std::vector<double> kept;  // by word: all 0 between two calls, for there may be many
  if (kept.size() < size()) kept.resize(size());
  double* const weights = kept.data();
  std::size_t most = 0;
  for (const std::size_t index : context) most += std::min<std::size_t>(words_[index].number, range.last - range.first);
  std::vector<Weighed> found;
  found.reserve(most);
  for (const std::size_t index : context) {
    const double share = 1.0 / (words_[index].met + half_trust) / static_cast<double>(context.size());
    visit_companions(index, range, [&](std::size_t companion, std::uint32_t together) {
      double& weight = weights[companion];
      if (weight == 0.0) found.push_back({companion, 0.0});
      weight += together * share;
    });
  }
  for (Weighed& each : found) each.weight = std::exchange(weights[each.index], 0.0);
  return found;
}

void Companions::propose(const Question& question, Proposals& proposals) const {
  const Policy& policy = question.policy;
  if (proposals.facts.longer_distinct > policy.companions_most_queries) return;
  const std::string_view prefix = question.reading.text;
  const std::size_t space = prefix.rfind(' ');
  if (space == std::string_view::npos) return;
  const std::string_view part = prefix.substr(space + 1);
  const auto most_words = static_cast<std::size_t>(policy.companions_most_words);
  const std::vector<std::size_t> context = known_words(prefix.substr(0, space), most_words);
  const Range range = beginning_with(part);
  if (context.empty() || range.first == range.last) return;
  const double half_trust = policy.companions_half_trust;
  const std::vector<Weighed> weighed = weigh(context, range, half_trust);
  double left = 0.0;  // what the context leaves to all words
  for (const std::size_t index : context) left += half_trust / (words_[index].met + half_trust);
  left /= static_cast<double>(context.size()) * static_cast<double>(typed_before_.back());
  double total = left * static_cast<double>(typed_before_[range.last] - typed_before_[range.first]);
  for (const Weighed& each : weighed) total += each.weight;
  std::vector<std::pair<double, std::size_t>> best;
  for (const auto& [index, weight] : weighed) {
    if (word(index).size() == part.size()) continue;  // the prefix itself
    const double ends =
        (words_[index].ended + policy.companions_end_hits) / (words_[index].typed + policy.companions_end_trials);
    best.emplace_back(-(weight + left * words_[index].typed) / total * ends, index);
  }
  const std::size_t kept = std::min(static_cast<std::size_t>(policy.page), best.size());
  std::partial_sort(best.begin(), best.begin() + static_cast<std::ptrdiff_t>(kept), best.end());
  for (std::size_t i = 0; i < kept; ++i) {
    std::string text = std::string(prefix).append(word(best[i].second).substr(part.size()));
    proposals.at(std::move(text)).companions = -best[i].first;
  }
}

}  // namespace halfword
