#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "store/model_file.h"

namespace halfword {

/// A tree of words, letter by letter (`text/characters.h`), as flat arrays in the layout of the model file.
///
/// The nodes lie level by level, so that the children of a node lie side by side, sorted by their letters; node 0 is
/// the root. Weights are logarithms of counts in tenths, plus 1; 0 stands for a count of 0.
struct WordTreeArrays {
  std::vector<std::uint32_t> alphabet;     // the letters that occur, sorted
  std::vector<std::uint16_t> letter;       // by node: the place of its letter in the alphabet
  std::vector<std::uint32_t> first_child;  // by node: where its children begin; they end where those of the next begin
  std::vector<std::uint8_t> word;          // by node: the weight of the word that ends here
  std::vector<std::uint8_t> total;         // by node: the weight of all words that go through it
};

/// Build the tree of words and their counts; each word must be there only once.
WordTreeArrays build_word_tree(const std::vector<std::pair<std::string, std::uint32_t>>& words);

/// Reads such a tree in place; opening it looks only at the first nodes, which have the most children. Every read is
/// bounded: damaged arrays give wrong answers, never a read outside of them.
class WordTree {
 public:
  using Node = std::uint32_t;
  using Weight = std::uint32_t;

  static constexpr Node root = 0;
  static constexpr Node none = UINT32_MAX;

  /// A place of the alphabet that stands for any letter.
  static constexpr std::size_t any = SIZE_MAX;

  /// The tree in the arrays whose names begin with `part`.
  WordTree(const ModelFile& file, const std::string& part);

  /// Where the children of a node begin and end. They lie after it, so that there is no way back; a node of a damaged
  /// file has none if they would not.
  std::pair<Node, Node> children(Node node) const {
    const Node begin = first_child_[node];
    const Node end = first_child_[node + 1];
    const bool sound = node < begin && begin <= end && end <= letter_.size();
    return sound ? std::pair{begin, end} : std::pair{root, root};
  }

  char32_t letter(Node node) const { return alphabet_[place(node)]; }

  /// The place of a node's letter in the alphabet, and of any letter; past its end if no word has that letter.
  std::size_t place(Node node) const { return std::min<std::size_t>(letter_[node], alphabet_.size() - 1); }
  std::size_t place_of(char32_t letter) const;
  std::span<const std::uint32_t> alphabet() const { return alphabet_; }

  /// The child of a node with this letter, or with the letter at this place of the alphabet; or none.
  Node child(Node node, char32_t letter) const { return child_at(node, place_of(letter)); }
  Node child_at(Node node, std::size_t place) const;

  /// Whether a node may go on with the letter at a place of the alphabet, and then with another one; if not, that is
  /// certain.
  bool may_go_on(Node node, std::size_t next, std::size_t second) const {
    if (node >= branches_.size()) return true;
    const Branches& branches = branches_[node];
    return (next == any || (branches.next & bit_of(next)) != 0) &&
           (second == any || (branches.second >> (second % 32) & 1) != 0);
  }

  /// Whether a word ends here, and the logarithm of how often it was typed.
  bool is_word(Node node) const { return word_[node] > 0; }
  double log_count(Node node) const { return logarithms()[word_[node]]; }

  /// The logarithm of how often words were typed that go through this node.
  double log_total(Node node) const { return logarithms()[total_[node]]; }

  /// The same as a weight, and the least weight of what was typed so often.
  Weight weight_below(Node node) const { return total_[node]; }
  static Weight least_weight(double log_total);

 private:
  /// How a node goes on, in one place: a bit for each letter, and for each that comes second; several may share one.
  struct Branches {
    std::uint64_t next = 0;
    std::uint32_t second = 0;
    Node first_child = 0;
  };

  static constexpr double steps = 10.0;          // per nat
  static constexpr std::size_t shared_bit = 63;  // of all letters from this place of the alphabet on

  /// The logarithms of counts that weights stand for.
  static const std::array<double, 256>& logarithms() {
    static constexpr auto table = [] {
      std::array<double, 256> logs{};
      for (std::size_t weight = 0; weight < logs.size(); ++weight)
        logs[weight] = (static_cast<double>(weight) - 1.0) / steps;
      return logs;
    }();
    return table;
  }

  static std::uint64_t bit_of(std::size_t place) { return std::uint64_t{1} << std::min(place, shared_bit); }

  void list_branches();

  std::span<const std::uint32_t> alphabet_;
  std::span<const std::uint16_t> letter_;
  std::span<const std::uint32_t> first_child_;
  std::span<const std::uint8_t> word_;
  std::span<const std::uint8_t> total_;
  std::vector<Branches> branches_;  // of the first nodes
};

}  // namespace halfword
