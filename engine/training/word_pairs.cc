#include "training/word_pairs.h"

#include <algorithm>
#include <array>
#include <stdexcept>
#include <utility>

#include "training/word_table.h"

namespace halfword {
namespace {

constexpr std::size_t most_waiting = std::size_t{1} << 26;  // pairs that wait to be counted; 256 MB

struct CountedPair {
  std::uint32_t pair;  // the smaller number × 2^16 + the larger one
  std::uint32_t count;
};

/// Sort numbers by their digits of 11 bits.
void sort_by_digits(std::vector<std::uint32_t>& numbers) {
  constexpr int bits = 11;
  std::vector<std::uint32_t> other(numbers.size());
  for (int shift = 0; shift < 32; shift += bits) {
    std::array<std::size_t, (1 << bits) + 1> begin{};
    for (const std::uint32_t number : numbers) ++begin[(number >> shift & ((1 << bits) - 1)) + 1];
    for (std::size_t digit = 0; digit < (1 << bits); ++digit) begin[digit + 1] += begin[digit];
    for (const std::uint32_t number : numbers) other[begin[number >> shift & ((1 << bits) - 1)]++] = number;
    numbers.swap(other);
  }
}

/// Counts pairs, of which only some wait at a time.
class PairCounter {
 public:
  void add(std::uint32_t pair) {
    waiting_.push_back(pair);
    if (waiting_.size() >= most_waiting) count_waiting();
  }

  std::vector<CountedPair> take() {
    count_waiting();
    return std::move(counted_);
  }

 private:
  void count_waiting() {
    sort_by_digits(waiting_);
    std::vector<CountedPair> sum;
    auto known = counted_.cbegin();
    for (auto next = waiting_.cbegin(); next != waiting_.cend();) {
      const auto end = std::find_if(next, waiting_.cend(), [&](std::uint32_t pair) { return pair != *next; });
      while (known != counted_.cend() && known->pair < *next) sum.push_back(*known++);
      auto count = static_cast<std::uint32_t>(end - next);
      if (known != counted_.cend() && known->pair == *next) count += known++->count;
      sum.push_back({*next, count});
      next = end;
    }
    sum.insert(sum.end(), known, counted_.cend());
    counted_ = std::move(sum);
    waiting_.clear();
  }

  std::vector<std::uint32_t> waiting_;
  std::vector<CountedPair> counted_;
};

/// Each pair in both directions, by its first word.
WordPairs in_both_directions(const std::vector<CountedPair>& pairs, std::size_t words) {
  WordPairs made;
  made.first.resize(words + 1);
  for (const auto& [pair, count] : pairs) {
    ++made.first[(pair >> 16) + 1];
    ++made.first[(pair & 0xFFFF) + 1];
  }
  for (std::size_t word = 0; word < words; ++word) made.first[word + 1] += made.first[word];
  made.companion.resize(2 * pairs.size());
  made.together.resize(2 * pairs.size());
  std::vector<std::uint32_t> next(made.first.begin(), made.first.end() - 1);
  const auto put = [&](std::uint32_t word, std::uint32_t companion, std::uint32_t count) {
    made.companion[next[word]] = static_cast<std::uint16_t>(companion);
    made.together[next[word]++] = count;
  };
  // Companions with smaller numbers come first, and the pairs are sorted by the smaller number.
  for (const auto& [pair, count] : pairs) put(pair & 0xFFFF, pair >> 16, count);
  for (const auto& [pair, count] : pairs) put(pair >> 16, pair & 0xFFFF, count);
  return made;
}

void sort_unique(std::vector<std::uint32_t>& numbers) {
  std::sort(numbers.begin(), numbers.end());
  numbers.erase(std::unique(numbers.begin(), numbers.end()), numbers.end());
}

/// Call `visit` with the numbers of the words of each query that has at most `most` different ones.
template <typename Visit>
void visit_queries(const QueryTable& table, const WordNumbers& numbers, std::size_t most, const Visit& visit) {
  std::vector<std::string_view> words;
  std::vector<std::uint32_t> in_order;
  for (std::size_t place = 0; place < table.size(); ++place) {
    words.clear();
    visit_spaced(table.at(place), [&](std::string_view word) { words.push_back(word); });
    if (words.size() < 2) continue;
    in_order.clear();
    for (const std::string_view word : words) in_order.push_back(numbers.find(word));
    std::sort(words.begin(), words.end());
    const auto different = static_cast<std::size_t>(std::unique(words.begin(), words.end()) - words.begin());
    if (different <= most) visit(in_order);
  }
}

std::vector<CountedPair> count_together(const QueryTable& table, const WordNumbers& numbers, std::size_t most) {
  PairCounter counter;
  visit_queries(table, numbers, most, [&](std::vector<std::uint32_t>& known) {
    std::erase(known, WordNumbers::unknown);
    sort_unique(known);
    for (std::size_t i = 0; i < known.size(); ++i) {
      for (std::size_t j = i + 1; j < known.size(); ++j) counter.add(known[i] << 16 | known[j]);
    }
  });
  return counter.take();
}

/// The pairs of words of which the second follows the first in at least so many queries.
std::vector<std::uint32_t> find_neighbours(const QueryTable& table, const WordNumbers& numbers, std::size_t most,
                                           std::size_t least) {
  PairCounter counter;
  std::vector<std::uint32_t> neighbours;
  visit_queries(table, numbers, most, [&](const std::vector<std::uint32_t>& words) {
    neighbours.clear();
    for (std::size_t i = 0; i + 1 < words.size(); ++i) {
      const bool are_known = words[i] != WordNumbers::unknown && words[i + 1] != WordNumbers::unknown;
      if (are_known && words[i] != words[i + 1]) neighbours.push_back(words[i] << 16 | words[i + 1]);
    }
    sort_unique(neighbours);
    for (const std::uint32_t pair : neighbours) counter.add(pair);
  });
  std::vector<std::uint32_t> often;
  for (const auto& [pair, count] : counter.take()) {
    if (count >= least) often.push_back(pair);
  }
  return often;
}

}  // namespace

WordPairs count_pairs(const QueryTable& table, const std::vector<std::string>& words, std::size_t most,
                      std::size_t least) {
  if (words.size() > 1 << 16) throw std::invalid_argument("there are too many words to count their pairs");
  WordNumbers numbers;
  for (const std::string& word : words) numbers.number_of(word);
  WordPairs made = in_both_directions(count_together(table, numbers, most), words.size());
  made.after = find_neighbours(table, numbers, most, least);
  return made;
}

}  // namespace halfword
