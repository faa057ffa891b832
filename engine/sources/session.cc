#include "sources/session.h"

#include <algorithm>

#include "sort.h"

namespace halfword {

Session::Session(std::span<const std::string> context) {
  keep(context);
  if (queries_.empty()) return;
  read_words();
  read_pairs();
}

/// Take over the last queries, as many as the limits allow.
void Session::keep(std::span<const std::string> context) {
  std::size_t bytes = 0;
  for (auto query = context.rbegin(); query != context.rend() && queries_.size() < SessionLimits::queries; ++query) {
    bytes += query->size();
    if (bytes > SessionLimits::bytes) return;
    if (!query->empty()) queries_.push_back(*query);
  }
}

void Session::read_words() {
  for (std::size_t age = 0; age < queries_.size(); ++age) {
    std::size_t words = 0;
    for_each_word(queries_[age], [&](std::string_view word) {
      words_.push_back({word, Mask{1} << age});
      ++words;
    });
    words_of_.push_back(words);
  }
  sort_list(words_, [](const Word& left, const Word& right) { return left.text < right.text; });
  std::size_t kept = 0;
  for (const Word& word : words_) {
    if (kept > 0 && words_[kept - 1].text == word.text) {
      words_[kept - 1].queries |= word.queries;
    } else {
      words_[kept++] = word;
    }
  }
  words_.resize(kept);
}

void Session::read_pairs() {
  const auto pair = [](WordId left, WordId right) { return std::uint64_t{left} << 32 | right; };
  for (const std::string_view query : queries_) {
    WordId before = edge;
    for_each_word(query, [&](std::string_view word) {
      const WordId id = find(word);
      pairs_.push_back(pair(before, id));
      before = id;
    });
    pairs_.push_back(pair(before, edge));
  }
  sort_list(pairs_);
}

Session::WordId Session::find(std::string_view word) const {
  const auto place = std::lower_bound(words_.begin(), words_.end(), word,
                                      [](const Word& each, std::string_view wanted) { return each.text < wanted; });
  if (place == words_.end() || place->text != word) return unknown;
  return static_cast<WordId>(place - words_.begin() + 2);
}

bool Session::neighbours(WordId left, WordId right) const {
  return std::binary_search(pairs_.begin(), pairs_.end(), std::uint64_t{left} << 32 | right);
}

}  // namespace halfword
