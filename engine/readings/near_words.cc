#include "readings/near_words.h"

#include <algorithm>
#include <utility>

namespace halfword {

std::vector<NearWord> NearWords::find(std::u32string_view typed, const NearOptions& options) {
  typed_ = typed;
  options_ = options;
  letters_.clear();
  found_.clear();
  threshold_ = options.least_score;
  walk({WordTree::root, 0, Channel::beginning, 0.0, 0});
  return std::exchange(found_, {});
}

void NearWords::walk(const Place& place) {
  if (budget_ == 0 || !is_likely(place.node, place.cost)) return;
  --budget_;
  if (place.edits == options_.most_edits) return finish(place);
  if (place.read == typed_.size()) add(place);
  if (place.read < typed_.size()) {
    const WordTree::Node next = words_.child(place.node, typed_[place.read]);
    if (next != WordTree::none) step_to(next, place, place.read + 1, 0.0, 0);
  }
  make_mistakes(place);
}

/// Read the rest as it is typed.
void NearWords::finish(Place place) {
  const std::size_t before = letters_.size();
  for (; place.read < typed_.size(); ++place.read) {
    place.node = words_.child(place.node, typed_[place.read]);
    if (place.node == WordTree::none || !is_likely(place.node, place.cost)) break;
    letters_ += typed_[place.read];
  }
  if (place.read == typed_.size()) add(place);
  letters_.resize(before);
}

/// Go on after one more mistake.
void NearWords::make_mistakes(const Place& place) {
  const bool more = place.read < typed_.size();
  const std::size_t typed = more ? Channel::class_of(typed_[place.read]) : 0;
  const double first = place.before == Channel::beginning ? channel_.first_letter() : 0.0;
  const auto [begin, end] = words_.children(place.node);
  for (WordTree::Node child = begin; child < end; ++child) {
    const char32_t letter = words_.letter(child);
    const std::size_t meant = Channel::class_of(letter);
    if (more && letter != typed_[place.read]) {
      step_to(child, place, place.read + 1, channel_.substitute(meant, typed) + first, 1);
    }
    // What the beginning of a word has after the last letter typed was not left out, but is still to come.
    if (more || options_.whole) step_to(child, place, place.read, channel_.leave_out(place.before, meant), 1);
  }
  if (!more) return;
  const Place inserted{place.node, place.read + 1, place.before,
                       place.cost + channel_.insert(place.before, typed) + options_.edit_cost, place.edits + 1};
  walk(inserted);
  if (place.read + 1 == typed_.size() || typed_[place.read] == typed_[place.read + 1]) return;
  const WordTree::Node next = words_.child(place.node, typed_[place.read + 1]);
  const WordTree::Node second = next == WordTree::none ? next : words_.child(next, typed_[place.read]);
  if (second == WordTree::none) return;
  const std::size_t meant_first = Channel::class_of(typed_[place.read + 1]);
  letters_ += typed_[place.read + 1];
  step_to(second, place, place.read + 2, channel_.swap(meant_first, typed) + first, 1);
  letters_.pop_back();
}

/// Go on at `node`, after `read` letters typed.
void NearWords::step_to(WordTree::Node node, const Place& place, std::size_t read, double cost, std::size_t edits) {
  const double costs = place.cost + cost + static_cast<double>(edits) * options_.edit_cost;
  if (!is_likely(node, costs)) return;
  const char32_t letter = words_.letter(node);
  letters_ += letter;
  walk({node, read, Channel::class_of(letter), costs, place.edits + edits});
  letters_.pop_back();
}

/// Keep what all typed letters led to, if it is among the best.
void NearWords::add(const Place& place) {
  if (place.edits == 0 || (options_.whole && !words_.is_word(place.node)) || letters_.empty()) return;
  const double log_count = options_.whole ? words_.log_count(place.node) : words_.log_total(place.node);
  NearWord near{place.node, letters_, place.cost, place.edits, log_count};
  if (near.score() < threshold_ || letters_ == typed_) return;
  const auto same =
      std::find_if(found_.begin(), found_.end(), [&](const auto& each) { return each.node == near.node; });
  if (same != found_.end()) {
    if (same->cost <= near.cost) return;
    found_.erase(same);
  }
  const auto comes_first = [](const NearWord& left, const NearWord& right) {
    return left.score() != right.score() ? left.score() > right.score() : left.letters < right.letters;
  };
  found_.insert(std::upper_bound(found_.begin(), found_.end(), near, comes_first), std::move(near));
  if (found_.size() > options_.keep) found_.pop_back();
  if (found_.size() == options_.keep) threshold_ = std::max(options_.least_score, found_.back().score());
}

}  // namespace halfword
