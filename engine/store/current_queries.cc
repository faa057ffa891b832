#include "store/current_queries.h"

#include <algorithm>
#include <optional>

#include "sort.h"

namespace halfword {
namespace {

/// The changed queries of a range, the most typed first; ties are ordered by text.
class MostTyped {
 public:
  using Node = LiveQueries::Node;

  MostTyped(const LiveQueries& queries, std::string_view low, std::string_view high) {
    queries.cover(
        low, high,
        [&](const Node* node, std::string_view before) {
          add_below(node, before);
          sum_.add(node->summary);
        },
        [&](const Node* node) {
          add_single(node);
          sum_.add(LiveSum(node->value));
        });
  }

  /// What the changed queries of the range add to it.
  const LiveSum& sum() const { return sum_; }

  /// The best one; null if there is none that was ever typed.
  const Node* best() {
    while (!heap_.empty() && !heap_.front().single) {
      const Item top = heap_.front();
      drop();
      add_single(top.node);
      add_below(top.node->left, top.from);
      add_below(top.node->right, top.node->text());
    }
    return heap_.empty() ? nullptr : heap_.front().node;
  }

  void drop() {
    std::pop_heap(heap_.begin(), heap_.end());
    heap_.pop_back();
  }

 private:
  struct Item {
    double most;  // of a single query its count, else no count below the node is larger
    const Node* node;
    std::string_view from;  // of a single query its text, else one that is before all below the node
    bool single;

    bool operator<(const Item& other) const {
      if (most != other.most) return most < other.most;
      if (from != other.from) return from > other.from;
      return other.single;  // what is below begins after `from`
    }
  };

  void push(Item item) {
    if (item.most <= 0.0) return;
    heap_.push_back(item);
    std::push_heap(heap_.begin(), heap_.end());
  }

  void add_single(const Node* node) { push({node->value.count(), node, node->text(), true}); }
  void add_below(const Node* node, std::string_view from) {
    if (node == nullptr) return;
    LiveQueries::fetch_below(node);
    push({static_cast<double>(node->summary.most), node, from, false});
  }

  std::vector<Item> heap_;
  LiveSum sum_;
};

/// A query of the log, and by what it is ordered among others of the same count.
struct Logged {
  TypedQuery query;
  std::string order;
  bool skipped = false;
};

/// The most typed of changed queries and of those that `next_logged` gives, the most typed first, which may be changed.
/// `most_logged` tells the count of the next one, below 0 if there is none.
template <typename Most, typename Next>
std::vector<TypedQuery> merge(const LiveState& live, MostTyped changed, std::size_t count, const Most& most_logged,
                              const Next& next_logged) {
  std::vector<TypedQuery> found;
  std::optional<Logged> logged;  // the best query of the log that was not changed
  while (found.size() < count) {
    const LiveQueries::Node* const best = changed.best();
    const double typed = best == nullptr ? 0.0 : best->value.count();
    while (!logged && most_logged() >= typed) {
      Logged next = next_logged();
      if (!next.skipped && live.find(next.query.text) == nullptr) logged = std::move(next);
    }
    if (!logged && best == nullptr) break;
    const bool from_log = logged && (best == nullptr || logged->query.count > typed ||
                                     (logged->query.count == typed && logged->order.compare(best->text()) < 0));
    if (from_log) {
      found.push_back({std::move(logged->query.text), logged->query.count * live.scale});
      logged.reset();
    } else {
      const std::string_view text = best->text();
      const double since = LiveSum(best->value).total * live.scale;
      found.push_back({std::string(text.substr(text.find('\0') + 1)), typed * live.scale, since});
      changed.drop();
    }
  }
  return found;
}

/// The best of changed queries and of those between two places of the index.
std::vector<TypedQuery> merged(const Popular& popular, const LiveState& live, MostTyped changed, std::size_t first,
                               std::size_t last, std::size_t count) {
  Popular::Stretches stretches(popular, std::min(count, last - std::min(first, last)));
  for (const auto& [from, to] : live.skipped) {
    if (to <= first || from >= last) continue;
    stretches.add(first, from);
    first = to;
  }
  stretches.add(first, last);
  return merge(
      live, std::move(changed), count, [&] { return stretches.most(); },
      [&] {
        TypedQuery query = popular.at(stretches.take_best());
        std::string order = query.text;
        return Logged{std::move(query), std::move(order)};
      });
}

}  // namespace

TypedQueries CurrentQueries::most_typed(std::string_view prefix, std::size_t count, bool echo) const {
  if (live_ == nullptr) return popular_.most_typed(prefix, count, echo);
  const SortedTexts::Place place = popular_.place_of(prefix);
  const auto [first, last] = popular_.range_of(prefix);
  const std::string end = after_all(prefix);
  TypedQueries typed{{}, popular_.sum_of(first, last), static_cast<double>(last - first), 0.0, first, last};
  for (const auto& [from, to] : live_->skipped) {
    const std::size_t begin = std::max(from, first);
    const std::size_t stop = std::min(to, last);
    if (begin >= stop) continue;
    typed.total -= popular_.sum_of(begin, stop);
    typed.distinct -= static_cast<double>(stop - begin);
  }
  const std::string low = prefix.empty() ? std::string() : std::string(prefix).append(1, '\0');
  MostTyped changed(live_->queries, low, end);
  LiveSum sum = changed.sum();
  if (const LiveQuery* exactly = prefix.empty() ? nullptr : live_->find(prefix)) sum.add(LiveSum(*exactly));
  typed.total = (typed.total + sum.total) * live_->scale;
  typed.since = sum.total * live_->scale;
  typed.distinct += sum.distinct;
  typed.itself = prefix.empty() ? 0.0 : count_of(prefix, 0, size()).count;
  const bool is_there = place.exact && place.position < last;
  typed.queries = merged(popular_, *live_, std::move(changed), is_there ? first + 1 : first, last, count);
  if (echo && prefix.ends_with(' ')) add_itself(prefix.substr(0, prefix.size() - 1), count, typed);
  return typed;
}

/// Add the prefix without its trailing space, which is a candidate too.
void CurrentQueries::add_itself(std::string_view text, std::size_t count, TypedQueries& typed) const {
  const auto [itself, since] = count_of(text, 0, size());
  if (itself <= 0.0) return;
  typed.total += itself;
  typed.since += since;
  typed.distinct += 1.0;
  typed.itself = itself;
  typed.queries.push_back({std::string(text), itself, since});
  sort_list(typed.queries, [](const TypedQuery& left, const TypedQuery& right) {
    return left.count != right.count ? left.count > right.count : left.text < right.text;
  });
  if (typed.queries.size() > count) typed.queries.pop_back();
}

CurrentQueries::Count CurrentQueries::count_of(std::string_view query, std::size_t first, std::size_t last) const {
  if (live_ == nullptr) return {static_cast<double>(popular_.count_of(query, first, last))};
  if (const LiveQuery* changed = live_->find(query)) {
    return {changed->count() * live_->scale, LiveSum(*changed).total * live_->scale};
  }
  if (live_->removes(query)) return {};
  return {popular_.count_of(query, first, last) * live_->scale};
}

std::vector<TypedQuery> CurrentQueries::best_of(std::string_view prefix, std::size_t count) const {
  if (live_ != nullptr) {
    const auto [first, last] = popular_.range_of(prefix);
    return merged(popular_, *live_, MostTyped(live_->queries, prefix, after_all(prefix)), first, last, count);
  }
  std::vector<TypedQuery> found;
  for (const std::size_t position : popular_.best_of(prefix, count)) found.push_back(popular_.at(position));
  return found;
}

std::vector<TypedQuery> CurrentQueries::best_folded(std::string_view key, std::size_t count) const {
  std::vector<TypedQuery> found;
  if (live_ == nullptr) {
    if (folded_ == nullptr) return found;
    for (const std::size_t position : folded_->most_typed(key, count)) found.push_back(popular_.at(position));
    return found;
  }
  MostTyped changed(live_->folded, key, after_all(key));
  if (folded_ == nullptr) {
    return merge(*live_, std::move(changed), count, [] { return -1.0; }, [] { return Logged{}; });
  }
  FoldedQueries::Best best = folded_->best(key, count);
  return merge(
      *live_, std::move(changed), count, [&] { return best.most(); },
      [&] {
        const auto [own, position] = best.take();
        TypedQuery query = popular_.at(position);
        std::string order = std::string(own).append(1, '\0').append(query.text);
        return Logged{std::move(query), std::move(order), live_->skips(position)};
      });
}

bool CurrentQueries::are_begun(std::string_view prefix, double least, std::pair<std::size_t, std::size_t> range) const {
  const auto [first, last] = range;
  double found = static_cast<double>(last - first);
  if (live_ == nullptr) return found >= least;
  for (const auto& [from, to] : live_->skipped) {
    found -= static_cast<double>(std::min(to, last) - std::min(std::max(from, first), std::min(to, last)));
  }
  if (found - static_cast<double>(live_->silenced) >= least) return true;
  return found + live_->queries.between(prefix, after_all(prefix)).distinct >= least;
}

}  // namespace halfword
