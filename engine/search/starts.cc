#include "search/starts.h"

#include "lm/flat_map.h"
#include "search/parallel.h"
#include "text/escape.h"

namespace halfword {
namespace {

/// A tree of pieces, its nodes in the order in which they were met.
class Tree {
 public:
  /// `room` is the most nodes there can be below the root.
  Tree(PieceId root, std::size_t room) : places_(room) { nodes_.push_back({0, root, 0}); }

  /// The node that `sequence` leads to.
  std::uint32_t add(std::span<const PieceId> sequence) {
    std::uint32_t node = 0;
    for (const PieceId piece : sequence) {
      const std::uint64_t key = (static_cast<std::uint64_t>(node) << 32) | piece;
      std::uint32_t below = places_.find(key);
      if (below == FlatMap::absent) {
        below = static_cast<std::uint32_t>(nodes_.size());
        places_.insert(key, below);
        nodes_.push_back({node, piece, nodes_[node].depth + 1});
      }
      node = below;
    }
    return node;
  }

  /// Put the nodes into `tree`, level by level, and return where each went.
  std::vector<std::int32_t> lay_out(StartTree& tree) const {
    std::vector<std::int32_t>& ends = tree.level_ends;
    for (const Node& node : nodes_) {
      if (node.depth >= ends.size()) ends.resize(node.depth + 1);
      ++ends[node.depth];
    }
    std::vector<std::int32_t> next(ends.size());
    for (std::size_t level = 1; level < ends.size(); ++level) {
      next[level] = ends[level - 1];
      ends[level] += ends[level - 1];
    }
    std::vector<std::int32_t> order(nodes_.size());
    tree.parents.resize(nodes_.size());
    tree.pieces.resize(nodes_.size());
    for (std::size_t node = 0; node < nodes_.size(); ++node) {  // a parent was met before its children
      order[node] = next[nodes_[node].depth]++;
      tree.parents[static_cast<std::size_t>(order[node])] = order[nodes_[node].parent];
      tree.pieces[static_cast<std::size_t>(order[node])] = static_cast<std::int32_t>(nodes_[node].piece);
    }
    return order;
  }

 private:
  struct Node {
    std::uint32_t parent;
    PieceId piece;
    std::uint32_t depth;
  };

  std::vector<Node> nodes_;
  FlatMap places_;  // (node, piece) → node
};

/// Note all of a start but its node.
void describe(const Pieces& pieces, const Start& start, StartTree& tree) {
  const PieceId* sorted = pieces.beginning_with({}).data();
  const std::span<const PieceId> allowed = pieces.beginning_with(start.tail);
  const auto first = start.extends ? static_cast<std::int32_t>(allowed.data() - sorted) : 0;
  tree.tails.push_back(static_cast<std::int32_t>(start.tail.size()));
  tree.firsts.push_back(first);
  tree.lasts.push_back(start.extends ? first + static_cast<std::int32_t>(allowed.size()) : 0);
  tree.kinds.push_back((start.text.ends_with(space_mark) ? follows_space : 0) |
                       (start.tail == space_mark ? tail_is_space : 0));
}

}  // namespace

StartTree find_start_tree(const Pieces& pieces, std::span<const std::string> prefixes, const SearchOptions& options,
                          std::size_t threads) {
  std::vector<std::string> escaped(prefixes.size());
  std::vector<std::vector<Start>> starts(prefixes.size());  // their tails point into `escaped`
  parallel_for(prefixes.size(), threads, [&](std::size_t i) {
    escaped[i] = escape(prefixes[i]);
    starts[i] = find_starts(pieces, escaped[i], options, Deadline(0.0));
  });
  std::size_t room = 0;
  for (const std::vector<Start>& each : starts) {
    for (const Start& start : each) room += start.pieces.size();
  }
  StartTree tree;
  Tree growing(pieces.begin(), room);
  for (std::size_t prefix = 0; prefix < prefixes.size(); ++prefix) {
    for (const Start& start : starts[prefix]) {
      tree.prefixes.push_back(static_cast<std::int32_t>(prefix));
      tree.nodes.push_back(static_cast<std::int32_t>(growing.add(start.pieces)));
      describe(pieces, start, tree);
    }
  }
  const std::vector<std::int32_t> order = growing.lay_out(tree);
  for (std::int32_t& node : tree.nodes) node = order[static_cast<std::size_t>(node)];
  return tree;
}

std::string spell(const Pieces& pieces, std::string_view escaped, std::size_t tail,
                  std::span<const std::int32_t> reversed) {
  std::string text(escaped.substr(0, escaped.size() - tail));
  for (auto piece = reversed.rbegin(); piece != reversed.rend(); ++piece) {
    if (*piece >= 0) text += pieces.text(static_cast<PieceId>(*piece));
  }
  return unescape(text);
}

}  // namespace halfword
