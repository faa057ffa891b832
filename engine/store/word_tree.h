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
/// the root. Weights are logarithms of counts in tenths, plus 1; 0 stands for a count of 0. A letter is its place in
/// the alphabet; its highest bit tells whether a word ends with it. A word that no longer one begins with has the
/// weight of its last node.
struct WordTreeArrays {
  std::vector<std::uint32_t> alphabet;     // the letters that occur, sorted
  std::vector<std::uint8_t> narrow;        // by node: its letter, if there are at most 128 of them
  std::vector<std::uint16_t> wide;         // by node: its letter, if there are more
  std::vector<std::uint8_t> total;         // by node: the weight of all words that go through it
  std::vector<std::uint64_t> children;     // by 64 nodes: a bit for each that has children, one for each with several
  std::vector<std::uint32_t> begin;        // by 64 nodes: the first child, and how many nodes before have several
  std::vector<std::uint16_t> more;         // by node that has several: how many beyond the first; then 64 zeros
  std::vector<std::uint32_t> inner;        // the nodes in which a word ends and that have children, rising
  std::vector<std::uint8_t> inner_weight;  // of the words that end there
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
    return node < listed_ ? sound_children(node, {branches_[node].first_child, branches_[node + 1].first_child})
                          : sound_children(node, find_children(node));
  }

  char32_t letter(Node node) const { return alphabet_[place(node)]; }

  /// The place of a node's letter in the alphabet, and of any letter; past its end if no word has that letter.
  std::size_t place(Node node) const { return std::min<std::size_t>(coded(node) & ~ends_, alphabet_.size() - 1); }
  std::size_t place_of(char32_t letter) const;
  std::span<const std::uint32_t> alphabet() const { return alphabet_; }

  /// The child of a node with this letter, or with the letter at this place of the alphabet; or none.
  Node child(Node node, char32_t letter) const { return child_at(node, place_of(letter)); }
  Node child_at(Node node, std::size_t place) const;

  /// Whether a node may go on with the letter at a place of the alphabet, and then with another one; if not, that is
  /// certain.
  bool may_go_on(Node node, std::size_t next, std::size_t second) const {
    if (node >= listed_) return true;
    const Branches& branches = branches_[node];
    return (next == any || (branches.next & bit_of(next)) != 0) &&
           (second == any || (branches.second >> (second % 32) & 1) != 0);
  }

  /// Whether a word ends here, and the logarithm of how often it was typed.
  bool is_word(Node node) const { return (coded(node) & ends_) != 0; }
  double log_count(Node node) const;

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

  std::size_t coded(Node node) const { return narrow_.empty() ? wide_[node] : narrow_[node]; }
  std::pair<Node, Node> sound_children(Node node, std::pair<Node, Node> found) const {
    const auto [begin, end] = found;
    const bool sound = node < begin && begin <= end && end <= total_.size();
    return sound ? found : std::pair{root, root};
  }

  /// `find_children` and `child_at` with a function that counts bits; those called fast have the processor's own.
  template <typename Count>
  std::pair<Node, Node> found_children(Node node, const Count& count) const;
  template <typename Count>
  Node found_child(Node node, std::size_t place, const Count& count) const;
  std::pair<Node, Node> find_children_fast(Node node) const;
  Node child_at_fast(Node node, std::size_t place) const;
  std::pair<Node, Node> find_children(Node node) const;
  void list_branches();

  std::span<const std::uint32_t> alphabet_;
  std::size_t ends_;  // the bit of a letter that tells whether a word ends with it
  std::span<const std::uint8_t> narrow_;
  std::span<const std::uint16_t> wide_;
  std::span<const std::uint8_t> total_;
  std::span<const std::uint64_t> children_;
  std::span<const std::uint32_t> begin_;
  std::span<const std::uint16_t> more_;
  std::span<const std::uint32_t> inner_;
  std::span<const std::uint8_t> inner_weight_;
  std::size_t listed_ = 0;          // nodes
  std::vector<Branches> branches_;  // of the first nodes, and where the children of the next one begin
};

}  // namespace halfword
