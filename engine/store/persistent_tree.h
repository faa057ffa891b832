#pragma once

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <new>
#include <queue>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "store/small_blocks.h"

namespace halfword {

/// Texts in order, each with a value, as a balanced search tree of which a copy costs nothing.
///
/// It is a treap: a search tree by text and a heap by a hash of the text, so its shape depends on what it holds alone.
/// A copy shares all nodes. A change copies the nodes on the way to the text that another tree shares, about twice the
/// logarithm of the size, and changes the others in place. So readers keep a copy while a writer goes on, and nobody
/// waits.
///
/// Every node has a summary of the texts below it: `Summary(value)` of one text, `add` of others.
template <typename Value, typename Summary>
class PersistentTree {
 public:
  /// A text of the tree, its value, and what is below it.
  class Node {
   public:
    std::string_view text() const { return {reinterpret_cast<const char*>(this + 1), length_}; }

    Node* left = nullptr;
    Node* right = nullptr;
    Summary summary;  // of this text and all below
    Value value;

   private:
    friend class PersistentTree;

    Node(std::string_view text, std::uint16_t priority, const Value& its)
        : summary(its), value(its), priority_(priority), length_(static_cast<std::uint16_t>(text.size())) {
      std::copy(text.begin(), text.end(), reinterpret_cast<char*>(this + 1));
    }

    std::atomic<std::uint32_t> references_{1};
    std::uint16_t priority_;
    std::uint16_t length_;  // of the text, which lies behind the node
  };

  static constexpr std::size_t longest_text = UINT16_MAX;

  PersistentTree() = default;
  PersistentTree(const PersistentTree& other)
      : root_(share(other.root_)), size_(other.size_), bytes_(other.bytes_), blocks_(other.blocks_) {}
  PersistentTree(PersistentTree&& other) noexcept { swap(other); }
  PersistentTree& operator=(PersistentTree other) noexcept {
    swap(other);
    return *this;
  }
  ~PersistentTree() { release(root_); }

  /// Have the nodes below one brought into the cache: nodes lie anywhere in memory, and waiting for them costs most.
  static void fetch_below(const Node* node) {
    for (const Node* child : {node->left, node->right}) {
      if (child == nullptr) continue;
      __builtin_prefetch(child);
      __builtin_prefetch(child + 1);  // its text
    }
  }

  const Node* root() const { return root_; }
  std::size_t size() const { return size_; }
  bool empty() const { return root_ == nullptr; }

  /// Bytes of memory of all nodes.
  std::size_t bytes() const { return bytes_; }

  const Value* find(std::string_view text) const {
    const Node* node = root_;
    while (node != nullptr) {
      fetch_below(node);
      const int order = text.compare(node->text());
      if (order == 0) return &node->value;
      node = order < 0 ? node->left : node->right;
    }
    return nullptr;
  }

  /// Give a text a value, whether it has one or not.
  void set(std::string_view text, const Value& value) { root_ = with(root_, text, value); }

  void erase(std::string_view text) {
    if (find(text) != nullptr) root_ = without(root_, text);
  }

  /// The last text that is not after `text`; null if there is none.
  const Node* last_not_after(std::string_view text) const {
    const Node* found = nullptr;
    for (const Node* node = root_; node != nullptr;) {
      const bool after = node->text() > text;
      if (!after) found = node;
      node = after ? node->left : node->right;
    }
    return found;
  }

  /// Call `whole` with each largest subtree between two texts, and the text before it, from `low` to before `high`, and
  /// `single` with each text between them that is in no such subtree. An empty `high` is after all texts.
  template <typename Whole, typename Single>
  void cover(std::string_view low, std::string_view high, const Whole& whole, const Single& single) const {
    const auto before_end = [&](const Node* node) { return high.empty() || node->text() < high; };
    const Node* top = root_;
    while (top != nullptr) {
      fetch_below(top);
      const bool before_low = top->text() < low;
      if (!before_low && before_end(top)) break;
      top = before_low ? top->right : top->left;
    }
    if (top == nullptr) return;
    for (const Node* node = top->left; node != nullptr;) {
      fetch_below(node);
      const bool inside = node->text() >= low;
      if (inside) {
        single(node);
        if (node->right != nullptr) whole(node->right, node->text());
      }
      node = inside ? node->left : node->right;
    }
    single(top);
    std::string_view before = top->text();
    for (const Node* node = top->right; node != nullptr;) {
      fetch_below(node);
      const bool inside = before_end(node);
      if (inside) {
        single(node);
        if (node->left != nullptr) whole(node->left, before);
        before = node->text();
      }
      node = inside ? node->right : node->left;
    }
  }

  /// The summary of all texts from `low` to before `high`.
  Summary between(std::string_view low, std::string_view high) const {
    Summary sum;
    cover(
        low, high, [&](const Node* node, std::string_view) { sum.add(node->summary); },
        [&](const Node* node) { sum.add(Summary(node->value)); });
    return sum;
  }

  /// Call `visit` with the nodes from `low` to before `high` in order, until it returns false.
  template <typename Visit>
  void visit(std::string_view low, std::string_view high, const Visit& visit) const {
    visit_below(root_, low, high, visit);
  }

 private:
  void swap(PersistentTree& other) noexcept {
    std::swap(root_, other.root_);
    std::swap(size_, other.size_);
    std::swap(bytes_, other.bytes_);
    std::swap(blocks_, other.blocks_);
  }

  static std::size_t bytes_of(std::size_t length) { return sizeof(Node) + length; }

  Node* make(std::string_view text, std::uint16_t priority, const Value& value) {
    if (!blocks_) blocks_ = std::make_shared<SmallBlocks>();
    return new (blocks_->take(bytes_of(text.size()))) Node(text, priority, value);
  }

  static Node* share(Node* node) {
    if (node != nullptr) node->references_.fetch_add(1, std::memory_order_relaxed);
    return node;
  }

  void release(Node* node) {
    while (node != nullptr && node->references_.fetch_sub(1, std::memory_order_acq_rel) == 1) {
      release(node->left);
      Node* const next = node->right;
      const std::size_t bytes = bytes_of(node->text().size());
      node->~Node();
      blocks_->give_back(node, bytes);
      node = next;
    }
  }

  /// The node itself if nobody else has it, else a copy.
  Node* own(Node* node) {
    if (node->references_.load(std::memory_order_acquire) == 1) return node;
    Node* const copy = make(node->text(), node->priority_, node->value);
    copy->left = share(node->left);
    copy->right = share(node->right);
    copy->summary = node->summary;
    release(node);
    return copy;
  }

  static void summarise(Node* node) {
    Summary sum(node->value);
    if (node->left != nullptr) sum.add(node->left->summary);
    if (node->right != nullptr) sum.add(node->right->summary);
    node->summary = sum;
  }

  static Node* rotate_right(Node* node) {
    Node* const top = node->left;
    node->left = std::exchange(top->right, node);
    summarise(node);
    return top;
  }

  static Node* rotate_left(Node* node) {
    Node* const top = node->right;
    node->right = std::exchange(top->left, node);
    summarise(node);
    return top;
  }

  Node* with(Node* node, std::string_view text, const Value& value) {
    if (node == nullptr) {
      constexpr std::size_t low_bits = 8 * sizeof(std::size_t) - 16;
      const auto priority = static_cast<std::uint16_t>(std::hash<std::string_view>()(text) >> low_bits);
      ++size_;
      bytes_ += bytes_of(text.size());
      return make(text, priority, value);
    }
    node = own(node);
    const int order = text.compare(node->text());
    if (order == 0) {
      node->value = value;
    } else if (order < 0) {
      node->left = with(node->left, text, value);
      if (node->left->priority_ > node->priority_) node = rotate_right(node);
    } else {
      node->right = with(node->right, text, value);
      if (node->right->priority_ > node->priority_) node = rotate_left(node);
    }
    summarise(node);
    return node;
  }

  Node* without(Node* node, std::string_view text) {
    node = own(node);
    const int order = text.compare(node->text());
    if (order < 0) {
      node->left = without(node->left, text);
    } else if (order > 0) {
      node->right = without(node->right, text);
    } else if (node->left == nullptr || node->right == nullptr) {
      Node* const rest = share(node->left != nullptr ? node->left : node->right);
      --size_;
      bytes_ -= bytes_of(text.size());
      release(node);
      return rest;
    } else if (node->left->priority_ > node->right->priority_) {
      node->left = own(node->left);
      node = rotate_right(node);
      node->right = without(node->right, text);
    } else {
      node->right = own(node->right);
      node = rotate_left(node);
      node->left = without(node->left, text);
    }
    summarise(node);
    return node;
  }

  template <typename Visit>
  static bool visit_below(const Node* node, std::string_view low, std::string_view high, const Visit& visit) {
    if (node == nullptr) return true;
    const bool from_low = node->text() >= low;
    const bool before_high = high.empty() || node->text() < high;
    if (from_low && !visit_below(node->left, low, high, visit)) return false;
    if (from_low && before_high && !visit(*node)) return false;
    return !before_high || visit_below(node->right, low, high, visit);
  }

  Node* root_ = nullptr;
  std::size_t size_ = 0;
  std::size_t bytes_ = 0;
  std::shared_ptr<SmallBlocks> blocks_;  // where the nodes lie; copies share it
};

}  // namespace halfword
