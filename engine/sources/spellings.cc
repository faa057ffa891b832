#include "sources/spellings.h"

#include <algorithm>
#include <array>
#include <utility>

#include "sort.h"
#include "store/coded_numbers.h"
#include "text/letters.h"
#include "text/words.h"

namespace halfword {
namespace {

constexpr std::size_t letter_block = 32;  // positions that are coded together

/// A text and how likely it is to be the whole query.
struct LikelyText {
  std::string text;
  double probability;
};

/// How the letters of a text compare with others, looking only at as many as those are: below 0, 0 or above.
int compare(std::string_view text, std::string_view letters) {
  LetterReader reader(without_lead(text));
  for (const char letter : letters) {
    if (!reader.next()) return -1;
    const int difference = static_cast<unsigned char>(reader.letter) - static_cast<unsigned char>(letter);
    if (difference != 0) return difference;
  }
  return 0;
}

/// What was typed, seen as letters and what comes after the last of them.
struct TypedLetters {
  explicit TypedLetters(std::string_view text_so_far) : prefix(text_so_far) {
    const std::string_view text = without_lead(prefix);
    LetterReader reader(text);
    std::string_view rest = text;
    for (; reader.next(); rest = reader.rest()) letters += reader.letter;
    for (const char byte : rest) repeats += is_letter(byte) ? 1 : 0;
    ends_with_letter = !prefix.empty() && is_letter(prefix.back());
    has_space = text.find(' ') != std::string_view::npos;
  }

  std::string prefix;
  std::string letters;
  std::size_t repeats = 0;  // of the last letter
  bool ends_with_letter;
  bool has_space;
};

/// What a query that begins with the letters of `typed` has beyond them.
std::string_view beyond(std::string_view query, const TypedLetters& typed) {
  LetterReader reader(without_lead(query));
  for (std::size_t read = 0; read < typed.letters.size(); ++read) reader.next();
  std::string_view rest = reader.rest();
  for (std::size_t i = 0; i < typed.repeats && !rest.empty() && rest.front() == reader.letter; ++i) {
    rest.remove_prefix(1);
  }
  while (!typed.ends_with_letter && !rest.empty() && !is_letter(rest.front())) rest.remove_prefix(1);
  return rest;
}

/// What is to be added to a text to make it an address.
std::string_view domain_after(std::string_view text, std::string_view common_domain) {
  if (!domain_of(text).empty() || common_domain.empty() || holds_unspaced(text)) return {};
  if (text.back() == '.') return common_domain.substr(1);
  return is_letter(text.back()) ? common_domain : std::string_view{};
}

/// The different ways in which what `query` has beyond the prefix may follow it.
std::vector<std::string> ways_on(std::string_view query, const TypedLetters& typed, std::string_view common_domain) {
  const std::string_view rest = beyond(query, typed);
  const std::string_view domain = domain_of(query);
  std::vector<std::string> ways{std::string(rest)};
  if (rest.size() < domain.size()) return ways;
  const auto add = [&](std::string way) {
    if (std::find(ways.begin(), ways.end(), way) == ways.end()) ways.push_back(std::move(way));
  };
  std::string plain(rest.substr(0, rest.size() - domain.size()));
  plain.erase(plain.find_last_not_of(' ') + 1);
  add(plain);
  if (typed.has_space) return ways;
  std::string joined = std::move(plain);
  std::erase(joined, ' ');
  add(joined);
  add(joined.append(domain.empty() ? domain_after(typed.prefix + joined, common_domain) : domain));
  return ways;
}

/// Bring texts that are the same together, their probabilities added.
void merge(std::vector<LikelyText>& texts) {
  sort_list(texts, [](const auto& left, const auto& right) { return left.text < right.text; });
  std::size_t kept = 0;
  for (LikelyText& each : texts) {
    if (kept > 0 && texts[kept - 1].text == each.text) {
      texts[kept - 1].probability += each.probability;
    } else {
      std::swap(texts[kept++], each);
    }
  }
  texts.resize(kept);
}

}  // namespace

Spellings::Spellings(const ModelFile& file, const Popular& popular)
    : popular_(popular),
      by_letters_(file.array<std::uint8_t>("popular.by_letters")),
      begin_(file.array<std::uint32_t>("popular.by_letters_begin")) {
  const std::span<const std::uint8_t> domain = file.array<std::uint8_t>("popular.domain");
  domain_ = {reinterpret_cast<const char*>(domain.data()), domain.size()};
  const bool sound = !begin_.empty() && (popular.size() > 0 || begin_.size() == 1) && domain_of(domain_) == domain_;
  if (!sound) throw ModelFileError("the queries by their letters make no sense");
}

/// The positions of a block, or the first of them, inside the index whatever a damaged file says; returns how many.
std::size_t Spellings::read_block(std::size_t index, std::span<std::size_t> positions) const {
  const std::size_t end = std::min<std::size_t>(begin_[index + 1], by_letters_.size());
  const std::size_t begin = std::min<std::size_t>(begin_[index], end);
  std::span<const std::uint8_t> rest = by_letters_.subspan(begin, end - begin);
  std::size_t position = 0;
  std::size_t read = 0;
  for (std::size_t step = 0; read < positions.size() && take_number(rest, step); ++read) {
    position += read == 0 ? step : step % 2 != 0 ? 0 - (step / 2 + 1) : step / 2;
    positions[read] = std::min(position, popular_.size() - 1);
  }
  return read;
}

/// The queries whose letters begin so; none if there are too many.
std::vector<TypedQuery> Spellings::alike(std::string_view letters, std::size_t most) const {
  std::string text;
  const auto compare_at = [&](std::size_t position) {
    popular_.read_text(position, text);  // its count is elsewhere, and few are of use
    return compare(text, letters);
  };
  const auto is_before = [&](std::size_t position) { return compare_at(position) < 0; };
  std::array<std::size_t, letter_block> positions;
  std::size_t low = 0;  // the first block that does not begin before the letters
  for (std::size_t high = begin_.size() - 1; low < high;) {
    const std::size_t middle = low + (high - low) / 2;
    if (read_block(middle, std::span(positions).first(1)) == 1 && is_before(positions.front())) {
      low = middle + 1;
    } else {
      high = middle;
    }
  }
  std::vector<TypedQuery> found;
  for (std::size_t index = std::max<std::size_t>(low, 1) - 1; index + 1 < begin_.size(); ++index) {
    const auto end = positions.begin() + static_cast<std::ptrdiff_t>(read_block(index, positions));
    auto place = found.empty() ? std::partition_point(positions.begin(), end, is_before) : positions.begin();
    for (; place != end; ++place) {
      if (compare_at(*place) != 0) return found;
      if (found.size() == most) return {};
      found.push_back({text, static_cast<double>(popular_.logged_at(*place))});
    }
  }
  return found;
}

void Spellings::propose(const Question& question, Proposals& proposals) const {
  const Policy& policy = question.policy;
  if (proposals.facts.longer_distinct >= policy.spellings_most_queries) return;
  const TypedLetters typed(question.reading.text);
  if (static_cast<double>(typed.letters.size()) < policy.spellings_fewest_letters) return;
  const std::vector<TypedQuery> queries = alike(typed.letters, static_cast<std::size_t>(policy.spellings_most_alike));
  double total = 0.0;
  for (const TypedQuery& query : queries) total += query.count;
  if (total == 0.0) return;
  std::vector<LikelyText> found;
  for (const TypedQuery& query : queries) {
    const std::vector<std::string> ways = ways_on(query.text, typed, domain_);
    const double share = query.count / total / static_cast<double>(ways.size());
    for (const std::string& way : ways) {
      std::string text = typed.prefix + way;
      if (!way.empty() && text != query.text) found.push_back({std::move(text), share});
    }
  }
  merge(found);
  const std::size_t kept = std::min(static_cast<std::size_t>(policy.page), found.size());
  std::partial_sort(found.begin(), found.begin() + static_cast<std::ptrdiff_t>(kept), found.end(),
                    [](const LikelyText& left, const LikelyText& right) {
                      return left.probability != right.probability ? left.probability > right.probability
                                                                   : left.text < right.text;
                    });
  for (std::size_t i = 0; i < kept; ++i) proposals.at(std::move(found[i].text)).spellings = found[i].probability;
}

}  // namespace halfword
