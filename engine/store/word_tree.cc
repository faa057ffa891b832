#include "store/word_tree.h"

#include <algorithm>
#include <cmath>
#include <set>
#include <stdexcept>

#include "sort.h"
#include "text/characters.h"

namespace halfword {
namespace {

constexpr std::size_t narrow_letters = std::size_t{1} << 7;
constexpr std::size_t most_letters = std::size_t{1} << 15;
constexpr std::size_t nodes_per_block = 64;                  // nodes
constexpr std::size_t most_branches = std::size_t{1} << 18;  // nodes of which it is kept how they go on

struct SpelledWord {
  std::u32string letters;
  std::uint32_t count;
};

/// Words from `begin` to before `end` of a sorted list, which begin with the same letters.
struct Stretch {
  std::size_t begin;
  std::size_t end;
  std::size_t depth;  // letters that they share
  std::size_t place;  // of the last of these in the alphabet
};

/// Like std::popcount, which is a function call if the compiler may not assume the processor's instruction.
std::uint32_t count_bits(std::uint64_t word) {
  word -= word >> 1 & 0x5555555555555555;
  word = (word & 0x3333333333333333) + (word >> 2 & 0x3333333333333333);
  word = (word + (word >> 4)) & 0x0F0F0F0F0F0F0F0F;
  return static_cast<std::uint32_t>(word * 0x0101010101010101 >> 56);
}

#if defined(__x86_64__)
const bool counts_fast = __builtin_cpu_supports("popcnt") != 0;  // which the oldest processors do not
#endif

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

/// Adds the nodes of a tree to its arrays, in their order.
class TreeWriter {
 public:
  explicit TreeWriter(const std::vector<SpelledWord>& words) {
    std::set<std::uint32_t> letters;
    for (const SpelledWord& word : words) letters.insert(word.letters.begin(), word.letters.end());
    if (letters.size() > most_letters) throw std::length_error("the words have too many different letters");
    arrays_.alphabet.assign(letters.begin(), letters.end());
  }

  std::uint16_t place_of(char32_t letter) const {
    const auto place = std::lower_bound(arrays_.alphabet.begin(), arrays_.alphabet.end(), letter);
    return static_cast<std::uint16_t>(place - arrays_.alphabet.begin());
  }

  /// Add a node with the place of its letter, the counts of its word (0 if there is none) and of all words below.
  void add(std::size_t place, std::uint64_t count, std::uint64_t total, std::size_t children) {
    const bool narrow = arrays_.alphabet.size() <= narrow_letters;
    const std::size_t ends = count > 0 ? (narrow ? narrow_letters : most_letters) : 0;
    if (narrow) arrays_.narrow.push_back(static_cast<std::uint8_t>(place | ends));
    if (!narrow) arrays_.wide.push_back(static_cast<std::uint16_t>(place | ends));
    if (count > 0 && children > 0) {
      arrays_.inner.push_back(static_cast<std::uint32_t>(arrays_.total.size()));
      arrays_.inner_weight.push_back(weight_of(count));
    }
    add_children(arrays_.total.size() % nodes_per_block, children);
    arrays_.total.push_back(weight_of(total));
  }

  WordTreeArrays finished() && {
    arrays_.more.resize(arrays_.more.size() + nodes_per_block);
    return std::move(arrays_);
  }

 private:
  void add_children(std::size_t bit, std::size_t children) {
    if (bit == 0) {
      arrays_.children.resize(arrays_.children.size() + 2);
      arrays_.begin.push_back(next_child_);
      arrays_.begin.push_back(static_cast<std::uint32_t>(arrays_.more.size()));
    }
    if (children > 0) arrays_.children.end()[-2] |= std::uint64_t{1} << bit;
    if (children > 1) arrays_.children.back() |= std::uint64_t{1} << bit;
    if (children > 1) arrays_.more.push_back(static_cast<std::uint16_t>(children - 1));
    next_child_ += static_cast<std::uint32_t>(children);
  }

  WordTreeArrays arrays_;
  std::uint32_t next_child_ = 1;
};

}  // namespace

WordTreeArrays build_word_tree(const std::vector<std::pair<std::string, std::uint32_t>>& words) {
  const std::vector<SpelledWord> list = sorted_words(words);
  TreeWriter writer(list);
  std::vector<Stretch> nodes{{0, list.size(), 0, 0}};
  for (std::size_t node = 0; node < nodes.size(); ++node) {
    auto [begin, end, depth, place] = nodes[node];
    std::uint64_t total = 0;
    for (std::size_t i = begin; i < end; ++i) total += list[i].count;
    const bool ends = begin < end && list[begin].letters.size() == depth;
    const std::uint64_t count = ends ? list[begin].count : 0;
    const std::size_t before = nodes.size();
    if (ends) ++begin;
    while (begin < end) {
      const char32_t letter = list[begin].letters[depth];
      std::size_t last = begin;
      while (last < end && list[last].letters[depth] == letter) ++last;
      nodes.push_back({begin, last, depth + 1, writer.place_of(letter)});
      begin = last;
    }
    writer.add(place, count, total, nodes.size() - before);
  }
  return std::move(writer).finished();
}

WordTree::WordTree(const ModelFile& file, const std::string& part)
    : alphabet_(file.array<std::uint32_t>(part + ".alphabet")),
      total_(file.array<std::uint8_t>(part + ".total")),
      children_(file.array<std::uint64_t>(part + ".children")),
      begin_(file.array<std::uint32_t>(part + ".begin")),
      more_(file.array<std::uint16_t>(part + ".more")),
      inner_(file.array<std::uint32_t>(part + ".inner")),
      inner_weight_(file.array<std::uint8_t>(part + ".inner_weight")) {
  const bool narrow = alphabet_.size() <= narrow_letters;
  if (narrow) narrow_ = file.array<std::uint8_t>(part + ".letter");
  if (!narrow) wide_ = file.array<std::uint16_t>(part + ".letter");
  ends_ = narrow ? narrow_letters : most_letters;
  const std::size_t size = total_.size();
  const std::size_t blocks = (size + nodes_per_block - 1) / nodes_per_block;
  const bool sound = size > 0 && narrow_.size() + wide_.size() == size && children_.size() == 2 * blocks &&
                     begin_.size() == 2 * blocks && more_.size() >= nodes_per_block &&
                     inner_.size() == inner_weight_.size() && (size == 1 || !alphabet_.empty());
  if (!sound) throw ModelFileError("the tree of the part " + part + " makes no sense");
  list_branches();
}

/// Where the children of a node begin and end, by the arrays.
template <typename Count>
[[gnu::always_inline]] inline std::pair<WordTree::Node, WordTree::Node> WordTree::found_children(
    Node node, const Count& count) const {
  const std::size_t block = node / nodes_per_block * 2;
  const std::uint64_t bit = std::uint64_t{1} << (node % nodes_per_block);
  const std::uint64_t with = children_[block];
  const std::size_t listed_before = begin_[block + 1];
  if ((with & bit) == 0 || listed_before > more_.size() - nodes_per_block) return {root, root};
  Node begin = begin_[block] + count(with & (bit - 1));
  const std::uint64_t several = children_[block + 1];
  const std::uint16_t* more = more_.data() + listed_before;
  for (std::uint64_t left = several & (bit - 1); left != 0; left &= left - 1) begin += *more++;
  return {begin, begin + 1 + ((several & bit) != 0 ? *more : 0)};
}

template <typename Count>
[[gnu::always_inline]] inline WordTree::Node WordTree::found_child(Node node, std::size_t place,
                                                                   const Count& count) const {
  if (node < listed_ && place < shared_bit) {
    const Branches& branches = branches_[node];
    const std::uint64_t bit = bit_of(place);
    return (branches.next & bit) == 0 ? none : branches.first_child + count(branches.next & (bit - 1));
  }
  auto [begin, end] = sound_children(node, found_children(node, count));
  for (; begin < end; ++begin) {
    const std::size_t own = coded(begin) & ~ends_;
    if (own >= place) return own == place ? begin : none;
  }
  return none;
}

#if defined(__x86_64__)

[[gnu::target("popcnt")]] std::pair<WordTree::Node, WordTree::Node> WordTree::find_children_fast(Node node) const {
  return found_children(node, [](std::uint64_t word) { return static_cast<Node>(__builtin_popcountll(word)); });
}

[[gnu::target("popcnt")]] WordTree::Node WordTree::child_at_fast(Node node, std::size_t place) const {
  return found_child(node, place, [](std::uint64_t word) { return static_cast<Node>(__builtin_popcountll(word)); });
}

#endif

std::pair<WordTree::Node, WordTree::Node> WordTree::find_children(Node node) const {
#if defined(__x86_64__)
  if (counts_fast) return find_children_fast(node);
#endif
  return found_children(node, count_bits);
}

WordTree::Node WordTree::child_at(Node node, std::size_t place) const {
#if defined(__x86_64__)
  if (counts_fast) return child_at_fast(node, place);
#endif
  return found_child(node, place, count_bits);
}

/// List how the first nodes go on, which are looked at most.
void WordTree::list_branches() {
  const std::size_t listed = std::min(total_.size(), most_branches);
  branches_.resize(listed + 1);
  Node child = 1;
  std::size_t several = 0;  // nodes before that have several children
  for (std::size_t node = 0; node <= listed; ++node) {
    branches_[node].first_child = child;
    if (node == listed) break;
    const std::size_t block = node / nodes_per_block * 2;
    child += static_cast<Node>(children_[block] >> (node % nodes_per_block) & 1);
    const bool has_more = (children_[block + 1] >> (node % nodes_per_block) & 1) != 0;
    if (has_more && several < more_.size()) child += more_[several++];
  }
  listed_ = listed;
  for (auto node = static_cast<Node>(listed); node-- > 0;) {
    const auto [begin, end] = children(node);
    Branches& branches = branches_[node];
    for (Node each = begin; each < end; ++each) {
      branches.next |= bit_of(place(each));
      const std::uint64_t after = each < listed ? branches_[each].next : ~std::uint64_t{0};
      branches.second |= static_cast<std::uint32_t>(after | after >> 32);
    }
  }
}

double WordTree::log_count(Node node) const {
  const bool has_children = (children_[node / nodes_per_block * 2] >> (node % nodes_per_block) & 1) != 0;
  if (!has_children) return log_total(node);
  const auto found = std::lower_bound(inner_.begin(), inner_.end(), node);
  if (found == inner_.end() || *found != node) return log_total(node);
  return logarithms()[inner_weight_[static_cast<std::size_t>(found - inner_.begin())]];
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

}  // namespace halfword
