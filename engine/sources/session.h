#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace halfword {

/// What bounds the work that a session can cause, whatever arrives.
struct SessionLimits {
  static constexpr std::size_t queries = 20;  // the last ones
  static constexpr std::size_t bytes = 4096;  // of all queries that are looked at
  static constexpr std::size_t copies = 60;   // texts that are copied
  static constexpr std::size_t extended = 3;  // last queries of which typed queries that go on from them are proposed,
  static constexpr std::size_t extensions = 3;    // and so many of each
  static constexpr std::size_t typed_words = 20;  // of the prefix that are looked at, the last ones
};

/// The earlier queries of a session, the last one first, and where their words and pairs of neighbours occur.
///
/// It refers to the texts that it was made of. A set of queries is a mask: bit i is the query of age i.
class Session {
 public:
  using Mask = std::uint32_t;
  using WordId = std::uint32_t;
  static constexpr WordId edge = 0;     // what stands before the first and after the last word of a query
  static constexpr WordId unknown = 1;  // a word that no query holds

  /// `context` has the oldest query first.
  explicit Session(std::span<const std::string> context);

  bool empty() const { return queries_.empty(); }
  std::span<const std::string_view> queries() const { return queries_; }

  /// How many words the query of an age has.
  std::size_t words_of(std::size_t age) const { return words_of_[age]; }

  WordId find(std::string_view word) const;
  Mask queries_with(WordId word) const { return word > unknown ? words_[word - 2].queries : 0; }
  bool neighbours(WordId left, WordId right) const;

 private:
  struct Word {
    std::string_view text;
    Mask queries;
  };

  void keep(std::span<const std::string> context);
  void read_words();
  void read_pairs();

  std::vector<std::string_view> queries_;
  std::vector<std::size_t> words_of_;
  std::vector<Word> words_;           // sorted by text; the id of a word is its place, plus 2
  std::vector<std::uint64_t> pairs_;  // (left id, right id), sorted
};

/// Call `visit` with each word of a text, in order.
template <typename Visit>
void for_each_word(std::string_view text, const Visit& visit) {
  while (!text.empty()) {
    const std::size_t space = text.find(' ');
    if (space != 0) visit(text.substr(0, space));
    if (space == std::string_view::npos) return;
    text.remove_prefix(space + 1);
  }
}

}  // namespace halfword
