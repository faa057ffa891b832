#include "store/live_state.h"

#include "text/fold.h"

namespace halfword {

LiveFilter::LiveFilter(std::size_t queries) : bits_(std::max<std::size_t>(queries * bits_per_query / 64, 16)) {}

void LiveFilter::add(std::string_view text) {
  const std::size_t bit = std::hash<std::string_view>()(text) % (bits_.size() * 64);
  bits_[bit / 64].fetch_or(std::uint64_t{1} << (bit % 64), std::memory_order_relaxed);
}

bool LiveFilter::may_hold(std::string_view text) const {
  const std::size_t bit = std::hash<std::string_view>()(text) % (bits_.size() * 64);
  return ((bits_[bit / 64].load(std::memory_order_relaxed) >> (bit % 64)) & 1) != 0;
}

std::vector<std::string> removal_keys(std::string_view text) {
  if (is_plain(text)) return {std::string(text)};
  std::vector<std::string> keys = fold_keys(text);
  if (keys.empty()) keys.emplace_back(text);
  return keys;
}

std::string after_all(std::string_view prefix) {
  std::string end(prefix);
  if (!end.empty()) end.back() = static_cast<char>(static_cast<unsigned char>(end.back()) + 1);
  return end;
}

namespace {

/// Whether a removed beginning is the beginning of `key`.
bool begins_removed(const LiveFlags& removed, std::string_view key) {
  // What stands before the key in order shares with it all that a removed beginning of the key could be.
  for (std::string_view rest = key;;) {
    const LiveFlags::Node* node = removed.last_not_after(rest);
    if (node == nullptr) return false;
    const std::string_view found = node->text();
    const auto differ = std::mismatch(found.begin(), found.end(), rest.begin(), rest.end());
    const auto shared = static_cast<std::size_t>(differ.second - rest.begin());
    if (shared == found.size() && (node->value.number & LiveState::beginning) != 0) return true;
    if (shared == 0) return false;
    rest = rest.substr(0, shared == found.size() ? shared - 1 : shared);
  }
}

}  // namespace

bool LiveState::removes(std::string_view text) const {
  if (removed.empty()) return false;
  const auto is_removed = [&](std::string_view key) {
    const LiveFlag* flag = removed.find(key);
    if (flag != nullptr) return true;
    return beginnings > 0 && begins_removed(removed, key);
  };
  if (is_removed(text)) return true;
  if (is_plain(text)) return false;
  const std::vector<std::string> keys = removal_keys(text);
  return std::any_of(keys.begin(), keys.end(), is_removed);
}

bool LiveState::skips(std::size_t position) const {
  const auto holds = [position](const Range& range) { return range.first <= position && position < range.second; };
  return std::any_of(skipped.begin(), skipped.end(), holds);
}

const LiveQuery* LiveState::find(std::string_view text) const {
  return filter && filter->may_hold(text) ? queries.find(text) : nullptr;
}

std::size_t LiveState::bytes() const {
  return queries.bytes() + folded.bytes() + removed.bytes() + words.bytes() + (filter ? filter->bytes() : 0);
}

}  // namespace halfword
