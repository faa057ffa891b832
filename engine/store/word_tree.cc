#include "store/word_tree.h"

#include <algorithm>
#include <cmath>
#include <set>
#include <stdexcept>

#include "sort.h"
#include "text/characters.h"

namespace halfword {
namespace {

constexpr std::size_t most_letters = UINT16_MAX;
constexpr std::size_t most_branches = std::size_t{1} << 17;  // nodes of which it is kept how they go on

struct SpelledWord {
  std::u32string letters;
  std::uint32_t count;
};

/// Words from `begin` to before `end` of a sorted list, which begin with the same letters.
struct Stretch {
  std::size_t begin;
  std::size_t end;
  std::size_t depth;  // letters that they share
};

/// Like std::popcount, which is a function call if the compiler may not assume the processor's instruction.
std::uint64_t count_ones(std::uint64_t word) {
  word -= word >> 1 & 0x5555555555555555;
  word = (word & 0x3333333333333333) + (word >> 2 & 0x3333333333333333);
  word = (word + (word >> 4)) & 0x0F0F0F0F0F0F0F0F;
  return word * 0x0101010101010101 >> 56;
}

std::uint8_t weight_of(std::uint64_t count) {
  if (count == 0) return 0;
  return static_cast<std::uint8_t>(std::min(255.0, 1.0 + std::round(10.0 * std::log(static_cast<double>(count)))));
}

std::vector<SpelledWord> sorted_words(const std::vector<std::pair<std::string, std::uint32_t>>& words) {
  std::vector<SpelledWord> list;
  list.reserve(words.size());
  for (const auto& [word, count] : words) list.push_back({spelled(word), count});
  sort_list(list, [](const auto& left, const auto& right) { return left.letters < right.letters; });
  const auto same = [](const auto& left, const auto& right) { return left.letters == right.letters; };
  if (std::adjacent_find(list.begin(), list.end(), same) != list.end()) {
    throw std::invalid_argument("a word is listed twice");
  }
  return list;
}

}  // namespace

WordTreeArrays build_word_tree(const std::vector<std::pair<std::string, std::uint32_t>>& words) {
  const std::vector<SpelledWord> list = sorted_words(words);
  WordTreeArrays arrays;
  std::set<std::uint32_t> letters;
  for (const SpelledWord& word : list) letters.insert(word.letters.begin(), word.letters.end());
  if (letters.size() > most_letters) throw std::length_error("the words have too many different letters");
  arrays.alphabet.assign(letters.begin(), letters.end());
  std::vector<Stretch> nodes{{0, list.size(), 0}};
  arrays.letter.push_back(0);
  for (std::size_t node = 0; node < nodes.size(); ++node) {
    auto [begin, end, depth] = nodes[node];
    std::uint64_t total = 0;
    for (std::size_t i = begin; i < end; ++i) total += list[i].count;
    const bool ends = begin < end && list[begin].letters.size() == depth;
    arrays.word.push_back(weight_of(ends ? list[begin].count : 0));
    arrays.total.push_back(weight_of(total));
    arrays.first_child.push_back(static_cast<std::uint32_t>(nodes.size()));
    if (ends) ++begin;
    while (begin < end) {
      const char32_t letter = list[begin].letters[depth];
      std::size_t last = begin;
      while (last < end && list[last].letters[depth] == letter) ++last;
      nodes.push_back({begin, last, depth + 1});
      const auto place = std::lower_bound(arrays.alphabet.begin(), arrays.alphabet.end(), letter);
      arrays.letter.push_back(static_cast<std::uint16_t>(place - arrays.alphabet.begin()));
      begin = last;
    }
  }
  arrays.first_child.push_back(static_cast<std::uint32_t>(nodes.size()));
  return arrays;
}

WordTree::WordTree(const ModelFile& file, const std::string& part)
    : alphabet_(file.array<std::uint32_t>(part + ".alphabet")),
      letter_(file.array<std::uint16_t>(part + ".letter")),
      first_child_(file.array<std::uint32_t>(part + ".first_child")),
      word_(file.array<std::uint8_t>(part + ".word")),
      total_(file.array<std::uint8_t>(part + ".total")) {
  const std::size_t size = letter_.size();
  const bool sound = size > 0 && first_child_.size() == size + 1 && word_.size() == size && total_.size() == size &&
                     first_child_.back() == size && (size == 1 || !alphabet_.empty());
  if (!sound) throw ModelFileError("the tree of the part " + part + " makes no sense");
  list_branches();
}

/// List how the first nodes go on, which are looked at most.
void WordTree::list_branches() {
  branches_.resize(std::min(letter_.size(), most_branches));
  for (auto node = static_cast<Node>(branches_.size()); node-- > 0;) {
    const auto [begin, end] = children(node);
    Branches& branches = branches_[node];
    branches.first_child = begin;
    for (Node child = begin; child < end; ++child) {
      branches.next |= bit_of(letter_[child]);
      const std::uint64_t after = child < branches_.size() ? branches_[child].next : ~std::uint64_t{0};
      branches.second |= static_cast<std::uint32_t>(after | after >> 32);
    }
  }
}

std::size_t WordTree::place_of(char32_t letter) const {
  const auto found = std::lower_bound(alphabet_.begin(), alphabet_.end(), static_cast<std::uint32_t>(letter));
  const bool known = found != alphabet_.end() && *found == letter;
  return known ? static_cast<std::size_t>(found - alphabet_.begin()) : alphabet_.size();
}

WordTree::Weight WordTree::least_weight(double log_total) {
  // Rounded down a little, so that nothing is lost to rounding.
  return static_cast<Weight>(std::clamp(std::floor(log_total * steps + 1.0), 0.0, 256.0));
}

WordTree::Node WordTree::child_at(Node node, std::size_t place) const {
  if (node < branches_.size() && place < shared_bit) {
    const auto [next, second, first_child] = branches_[node];
    const std::uint64_t bit = bit_of(place);
    return (next & bit) == 0 ? none : first_child + static_cast<Node>(count_ones(next & (bit - 1)));
  }
  auto [begin, end] = children(node);
  for (; begin < end && letter_[begin] <= place; ++begin) {
    if (letter_[begin] == place) return begin;
  }
  return none;
}

}  // namespace halfword
