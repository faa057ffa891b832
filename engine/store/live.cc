#include "store/live.h"

#include <algorithm>
#include <set>
#include <utility>

#include "text/fold.h"
#include "text/words.h"

namespace halfword {
namespace {

constexpr std::size_t smallest_filter = 4096;  // queries that it has room for

std::string folded_entry(std::string_view key, std::string_view text) {
  return std::string(key).append(1, '\0').append(text);
}

}  // namespace

Live::Live(const Popular& popular, const FoldedQueries* folded, const Lexicon* lexicon)
    : popular_(popular), folded_(folded), lexicon_(lexicon) {}

void Live::apply(std::span<const LiveChange> changes, double scale, bool publish) {
  const std::lock_guard lock(writing_);
  std::vector<const LiveChange*> order;
  order.reserve(changes.size());
  for (const LiveChange& change : changes) order.push_back(&change);
  const auto is_count = [](const LiveChange& change) { return change.kind == LiveChange::Kind::typed; };
  if (std::all_of(changes.begin(), changes.end(), is_count)) {  // in any order: neighbours share most of their way
    std::stable_sort(order.begin(), order.end(),
                     [](const LiveChange* left, const LiveChange* right) { return left->text < right->text; });
  }
  for (const LiveChange* change : order) apply(*change);
  judge_all();
  next_.scale = scale;
  if (!publish) return;
  next_.generation = ++generations_;
  published_.store(std::make_shared<const LiveState>(next_));
}

void Live::clear(bool publish) {
  const std::lock_guard lock(writing_);
  next_ = LiveState{};
  removals_.clear();
  if (publish) published_.store(nullptr);
}

void Live::apply(const LiveChange& change) {
  using Kind = LiveChange::Kind;
  switch (change.kind) {
    case Kind::remove:
      return flag(change.text, LiveState::exactly, true);
    case Kind::remove_beginning:
      return flag(change.text, LiveState::beginning, true);
    case Kind::allow:
      flag(change.text, LiveState::exactly, false);
      return flag(change.text, LiveState::beginning, false);
    case Kind::pin:
    case Kind::unpin:
      return pin(change);
    default:
      break;
  }
  judge_all();  // what was removed before this change
  LiveQuery query = query_of(change.text);
  if (change.kind == Kind::typed) query.typed += change.number;
  if (change.kind == Kind::weight) query.weight = static_cast<float>(change.number);
  if (change.kind == Kind::boost) query.boost = static_cast<float>(change.number);
  put(change.text, query);
}

/// What is known of a query, changed or not.
LiveQuery Live::query_of(std::string_view text) const {
  if (const LiveQuery* known = next_.find(text)) return *known;
  LiveQuery query;
  const SortedTexts::Place place = popular_.place_of(text);
  if (place.exact) {
    query.logged = popular_.logged_at(place.position);
    query.skipped = next_.skips(place.position);
  }
  query.removed = next_.removes(text);
  return query;
}

void Live::put(std::string_view text, LiveQuery query) {
  const LiveQuery* known = next_.find(text);
  const bool is_new = known == nullptr;
  const bool was_shown = !is_new && known->logged == 0 && known->count() > 0.0;
  if (is_new) {
    if (!next_.filter || next_.queries.size() >= next_.filter->room()) {
      auto filter = std::make_shared<LiveFilter>(std::max(2 * next_.queries.size(), smallest_filter));
      next_.queries.visit({}, {}, [&](const LiveQueries::Node& node) {
        filter->add(node.text());
        return true;
      });
      next_.filter = std::move(filter);
    }
    next_.filter->add(text);
  }
  if (!is_new && LiveSum(*known).distinct < 0) --next_.silenced;
  if (LiveSum(query).distinct < 0) ++next_.silenced;
  next_.queries.set(text, query);
  put_words(text, was_shown, query.logged == 0 && query.count() > 0.0);
  if (is_plain(text)) return;
  for (const std::string& key : fold_keys(text)) {
    if (key != text) next_.folded.set(folded_entry(key, text), query);
  }
}

/// Let the words of a query that the log has not be known while the query can be suggested.
void Live::put_words(std::string_view text, bool was_shown, bool is_shown) {
  if (was_shown == is_shown || lexicon_ == nullptr) return;
  visit_words(text, [&](std::string_view word) {
    if (lexicon_->holds(word)) return;
    const LiveFlag* known = next_.words.find(word);
    const std::uint32_t number = known == nullptr ? 0 : known->number;
    if (is_shown) {
      next_.words.set(word, {number + 1});
    } else if (number > 1) {
      next_.words.set(word, {number - 1});
    } else {
      next_.words.erase(word);
    }
  });
}

/// Remove the keys of a text, or allow them again.
void Live::flag(std::string_view text, std::uint32_t flag, bool on) {
  for (const std::string& key : removal_keys(text)) {
    const LiveFlag* known = next_.removed.find(key);
    const std::uint32_t before = known == nullptr ? 0 : known->number;
    const std::uint32_t after = on ? before | flag : before & ~flag;
    if (after == before) continue;
    if (flag == LiveState::beginning) next_.beginnings += on ? 1 : std::uint64_t(-1);
    if (after == 0) {
      next_.removed.erase(key);
    } else {
      next_.removed.set(key, {after});
    }
    removals_[key] |= flag;
  }
}

/// Bring what is known of queries into line with the removals that have changed.
void Live::judge_all() {
  if (removals_.empty()) return;
  const std::map<std::string, std::uint32_t> keys = std::exchange(removals_, {});
  skip_removed();
  for (const auto& [key, flags] : keys) judge_touched(key, (flags & LiveState::beginning) != 0);
}

/// The places of the index that are skipped, after removals have changed.
void Live::skip_removed() {
  next_.skipped.clear();
  if (next_.beginnings == 0) return;
  next_.removed.visit({}, {}, [&](const LiveFlags::Node& node) {
    if ((node.value.number & LiveState::beginning) == 0) return true;
    const LiveState::Range range = popular_.range_of(node.text());
    const bool within = !next_.skipped.empty() && range.second <= next_.skipped.back().second;
    if (range.first < range.second && !within) next_.skipped.push_back(range);
    return true;
  });
}

/// Judge all queries that a key removes, or has removed until now: those that have it, or also `longer` ones.
void Live::judge_touched(std::string_view key, bool longer) {
  std::set<std::string> touched{std::string(key)};
  const std::string just_after = folded_entry(key, {});
  const auto add = [&](std::string_view text) { touched.insert(std::string(text)); };
  if (folded_ != nullptr) folded_->visit(key, longer, [&](std::size_t place) { add(popular_.at(place).text); });
  next_.queries.visit(key, longer ? after_all(key) : just_after, [&](const LiveQueries::Node& node) {
    add(node.text());
    return true;
  });
  next_.folded.visit(just_after, after_all(longer ? key : just_after), [&](const LiveQueries::Node& node) {
    add(node.text().substr(node.text().find('\0') + 1));
    return true;
  });
  for (const std::string& text : touched) judge(text);
}

/// Note whether a query is removed, and whether its place in the index is skipped.
void Live::judge(std::string_view text) {
  LiveQuery query = query_of(text);
  query.removed = next_.removes(text);
  const SortedTexts::Place place = popular_.place_of(text);
  query.skipped = place.exact && next_.skips(place.position);
  // A query that the log has not needs no change to be removed.
  if ((query.removed && place.exact) || next_.find(text) != nullptr) put(text, query);
}

void Live::pin(const LiveChange& change) {
  auto pins = next_.pins ? *next_.pins : std::map<std::string, std::vector<Pin>, std::less<>>{};
  std::vector<Pin>& pinned = pins[change.prefix];
  std::erase_if(pinned, [&](const Pin& pin) { return pin.text == change.text; });
  if (change.kind == LiveChange::Kind::pin) {
    pinned.push_back({change.text, static_cast<std::size_t>(change.number)});
    std::stable_sort(pinned.begin(), pinned.end(),
                     [](const Pin& left, const Pin& right) { return left.position < right.position; });
  } else if (pinned.empty()) {
    pins.erase(change.prefix);
  }
  next_.pins = std::make_shared<const std::map<std::string, std::vector<Pin>, std::less<>>>(std::move(pins));
}

}  // namespace halfword
