#include "sources/companions.h"

#include <algorithm>

#include "store/coded_numbers.h"

namespace halfword {
namespace {

constexpr std::size_t cursor_step = 64;  // one companion of so many has a cursor
constexpr std::size_t most_words = std::size_t{UINT16_MAX} + 1;

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

/// Where the first word of a text begins that is not typed whole.
std::size_t begun_word(std::string_view text, std::size_t matched) {
  return text.substr(0, matched + 1).rfind(' ') + 1;
}

/// Whether a word is one of a text of words that each end with a space.
bool holds_word(std::string_view words, std::string_view word) {
  for (std::size_t begin = 0; begin < words.size();) {
    const std::size_t end = std::min(words.find(' ', begin), words.size());
    if (words.substr(begin, end - begin) == word) return true;
    begin = end + 1;
  }
  return false;
}

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
      together_(file.array<std::uint8_t>("ngram.words.together")),
      knows_after_(file.holds("ngram.words.after")) {
  if (knows_after_) after_ = file.array<std::uint8_t>("ngram.words.after");
  const std::span<const std::uint8_t> text = file.array<std::uint8_t>("ngram.words.text");
  text_ = {reinterpret_cast<const char*>(text.data()), text.size()};
  begin_.push_back(0);
  for (const std::uint8_t length : file.array<std::uint8_t>("ngram.words.length")) {
    begin_.push_back(begin_.back() + length);
  }
  check(begin_.back() == text_.size() && companion_.size() < UINT32_MAX && begin_.size() <= most_words + 1);
  std::span<const std::uint8_t> counts = file.array<std::uint8_t>("ngram.words.counts");
  Cursor cursor;
  std::uint32_t listed = 0;
  words_.resize(begin_.size() - 1);
  typed_before_.push_back(0);
  for (std::size_t index = 0; index < words_.size(); ++index) {
    check(index == 0 || word(index - 1) < word(index));
    Word& each = words_[index];
    check(take_companion_count(counts, each.typed) && take_companion_count(counts, each.ended) &&
          take_companion_count(counts, each.number));
    check(each.typed > 0 && each.ended <= each.typed);
    typed_before_.push_back(typed_before_.back() + each.typed);
    each.listed = listed;
    list_companions(each, cursor);
    listed += each.number;
  }
  check(counts.empty() && cursor.at == companion_.size() && cursor.together == together_.size());
  check(!knows_after_ || after_.size() == (std::size_t{listed} + 7) / 8);
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

/// Call `visit` with each companion of a word that lies in a range, how often they stood together, and its place.
template <typename Visit>
void Companions::visit_companions(std::size_t index, Range range, const Visit& visit) const {
  const Word& word = words_[index];
  std::size_t left = word.number;
  if (left == 0) return;
  const std::size_t skipped = cursor_before(word, range.first);
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
    if (companion >= range.first) visit(companion, count, word.number - left);
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

/// How one word was typed before another; one that is not listed was typed with none.
Companions::Bond Companions::bond(std::size_t one, std::size_t other) const {
  Bond found = Bond::apart;
  if (one == size() || other == size()) return found;
  visit_companions(one, {other, other + 1}, [&](std::size_t, std::uint32_t, std::size_t place) {
    const std::size_t bit = words_[one].listed + place;
    const bool is_after = !knows_after_ || (after_[bit / 8] >> bit % 8 & 1) != 0;
    found = is_after ? Bond::side_by_side : Bond::together;
  });
  return found;
}

/// The number of the last cursor of a word before which no companion lies that is `first` or beyond.
std::size_t Companions::cursor_before(const Word& word, std::size_t first) const {
  std::size_t low = 0;
  for (std::size_t high = (word.number + cursor_step - 1) / cursor_step; high - low > 1;) {
    const std::size_t middle = low + (high - low) / 2;
    (cursors_[word.first + middle].companion < first ? low : high) = middle;
  }
  return low;
}

/// How many companions of a word come before `bound`.
std::size_t Companions::number_before(const Word& word, std::size_t bound) const {
  if (word.number == 0) return 0;
  const std::size_t skipped = cursor_before(word, bound);
  const Cursor& cursor = cursors_[word.first + skipped];
  const std::uint8_t* at = companion_.data() + cursor.at;
  std::size_t companion = cursor.companion;
  for (std::size_t place = skipped * cursor_step; place < word.number; ++place) {
    std::size_t step = 0;
    at = take_small(at, step);
    companion += step / 2;
    if (companion >= bound) return place;
  }
  return word.number;
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
    if (each.empty() || found.first == found.last || word(found.first) != each || words_[found.first].number == 0)
      continue;
    const Word& own = words_[found.first];
    const std::size_t met = number_before(own, range.last) - number_before(own, range.first);
    if (static_cast<double>(met) > policy.companions_most_met) continue;
    if (std::find(known.begin(), known.end(), found.first) == known.end()) known.push_back(found.first);
  }
  return known;
}

/// How often a word ends the queries that hold it.
double Companions::ending(std::size_t index, const Policy& policy) const {
  return (words_[index].ended + policy.companions_end_hits) / (words_[index].typed + policy.companions_end_trials);
}

/// Note the companions of a context among the words of a range, and how likely each is beside it.
void Companions::weigh(std::span<const std::size_t> context, Range range, double half_trust) const {
  Met& met = met_of_thread();
  if (met.weights.size() < size()) met.weights.resize(size());
  met.words.clear();
  for (const std::size_t index : context) {
    const double share = 1.0 / (words_[index].met + half_trust) / static_cast<double>(context.size());
    visit_companions(index, range, [&](std::size_t companion, std::uint32_t together, std::size_t) {
      double& weight = met.weights[companion];
      if (weight == 0.0) met.words.push_back(static_cast<std::uint16_t>(companion));
      weight += together * share;
    });
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
    const double beside = (met.weights[index] + left * words_[index].typed) / total;
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

bool Companions::is_unfinished(std::string_view text, const Policy& policy) const {
  const std::size_t space = text.rfind(' ');
  return space != std::string_view::npos && joins(find(text.substr(space + 1)), policy);
}

bool Companions::repeats_word(std::string_view text, std::size_t matched, const Policy& policy) const {
  for (std::size_t begin = begun_word(text, matched); begin < text.size();) {
    const std::size_t end = std::min(text.find(' ', begin), text.size());
    const std::string_view word = text.substr(begin, end - begin);
    if (holds_word(text.substr(0, begin), word) && !joins(find(word), policy)) return true;
    begin = end + 1;
  }
  return false;
}

bool Companions::is_apart(std::string_view text, std::size_t matched, const Policy& policy) const {
  if (repeats_word(text, matched, policy)) return true;
  std::size_t begin = begun_word(text, matched);
  constexpr std::size_t none = SIZE_MAX;
  const auto most = static_cast<std::size_t>(policy.odd_words_before);
  std::size_t before = none;        // the word before
  std::vector<std::size_t> joined;  // the last ones that do not join others
  for (std::size_t end = begin; end > 0 && (before == none || joined.size() < most);) {
    const std::size_t start = end == 1 ? 0 : text.rfind(' ', end - 2) + 1;
    const std::size_t index = find(text.substr(start, end - 1 - start));
    if (before == none) before = index;
    if (!joins(index, policy)) joined.insert(joined.begin(), index);
    end = start;
  }
  while (true) {
    const std::size_t end = std::min(text.find(' ', begin), text.size());
    const std::size_t index = find(text.substr(begin, end - begin));
    const bool joins_others = joins(index, policy);
    if (before != none && bond(before, index) != Bond::side_by_side) return true;
    const auto last = joined.end() - static_cast<std::ptrdiff_t>(std::min(joined.size(), most));
    const auto apart = [&](std::size_t each) { return bond(each, index) == Bond::apart; };
    if (!joins_others && std::any_of(last, joined.end(), apart)) return true;
    before = index;
    if (!joins_others) joined.push_back(index);
    if (end == text.size()) return false;
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
  for (const std::size_t index : context) left += half_trust / (words_[index].met + half_trust);
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
