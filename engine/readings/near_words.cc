#include "readings/near_words.h"

#include <algorithm>
#include <tuple>
#include <utility>

namespace halfword {

namespace {

bool is_nearer(const NearWord& left, const NearWord& right) {
  return left.score() != right.score() ? left.score() > right.score() : left.letters < right.letters;
}

/// Whether one of two ways to mistype the same word explains better what was typed.
bool is_likelier_way(const NearWord& left, const NearWord& right) {
  return std::tie(left.cost, left.edits, left.after) < std::tie(right.cost, right.edits, right.after);
}

}  // namespace

const std::vector<NearWord>& NearWords::find(std::u32string_view typed, const NearOptions& options) {
  typed_ = typed;
  typed_places_.clear();
  typed_classes_.clear();
  typed_node_ = WordTree::root;
  for (const char32_t letter : typed) {
    typed_places_.push_back(words_.place_of(letter));
    typed_classes_.push_back(static_cast<std::uint32_t>(Channel::class_of(letter)));
    if (typed_node_ != WordTree::none) typed_node_ = words_.child_at(typed_node_, typed_places_.back());
  }
  options_ = options;
  mistakes_ = 1;
  least_ = options.least_score;
  found_.clear();
  look_from({WordTree::root, 0, 0, Channel::beginning, 0.0});
  return found_;
}

const std::vector<NearWord>& NearWords::find_with_two() {
  mistakes_ = 2;
  look_from({WordTree::root, 0, 0, Channel::beginning, 0.0});
  return found_;
}

/// Read on as it is typed, and make a mistake at each place on the way, the last one first: the beginning of a word is
/// seldom mistyped.
void NearWords::look_from(const Place& start) {
  const std::size_t begun = way_.size();
  const std::size_t letters = meant_.size();
  const double to_come = cost_to_come(start.edits);
  for (Place place = start; score_below(place) - to_come >= least_; ++place.read) {
    way_.push_back(place);
    if (place.read == typed_.size()) break;
    place.node = words_.child_at(place.node, typed_places_[place.read]);
    if (place.node == WordTree::none) break;
    place.before = typed_classes_[place.read];
    meant_ += typed_[place.read];
  }
  while (way_.size() > begun) {
    const Place place = way_.back();
    way_.pop_back();
    meant_.resize(letters + way_.size() - begun);
    make_mistakes(place);
  }
  meant_.resize(letters);
}

void NearWords::make_mistakes(const Place& place) {
  if (budget_ == 0 || score_below(place) - cost_to_come(place.edits) < least_) return;
  --budget_;
  if (place.read < typed_.size()) {
    if (!is_digit(place.read)) {
      mistake(place, place.node, place.read + 1, channel_.insert(place.before, typed_classes_[place.read]));
    }
    swap(place);
  } else if (!options_.whole) {
    return;  // what the beginning of a word has after the last letter typed was not left out, but is still to come
  }
  replace_or_leave_out(place);
}

void NearWords::swap(const Place& place) {
  const std::size_t read = place.read;
  if (read + 1 == typed_.size() || typed_places_[read] == typed_places_[read + 1]) return;
  if (is_digit(read) || is_digit(read + 1)) return;
  const WordTree::Node next = words_.child_at(place.node, typed_places_[read + 1]);
  const WordTree::Node second = next == WordTree::none ? next : words_.child_at(next, typed_places_[read]);
  if (second == WordTree::none) return;
  meant_ += typed_[read + 1];
  const double cost = channel_.swap(typed_classes_[read + 1], typed_classes_[read]);
  mistake(place, second, read + 2, cost + first_letter(place));
  meant_.pop_back();
}

void NearWords::replace_or_leave_out(const Place& place) {
  const std::size_t read = place.read;
  const bool more = read < typed_.size() && !is_digit(read);  // a letter that may be another one
  const bool last = place.edits + 1 == mistakes_;
  const std::size_t typed = place_at(read);
  // After the last mistake the rest must be as it is typed.
  const auto after_last = [&](std::size_t at) { return last ? place_at(at) : WordTree::any; };
  const std::size_t rest[] = {after_last(read), after_last(read + 1), after_last(read + 2)};
  const WordTree::Weight least = WordTree::least_weight(least_ + place.cost + cost_to_come(place.edits));
  const auto [begin, end] = words_.children(place.node);
  for (WordTree::Node child = begin; child < end; ++child) {
    if (words_.weight_below(child) < least) continue;
    const bool left_out = words_.may_go_on(child, rest[0], rest[1]);
    const std::size_t own = words_.place(child);
    const bool replaced = more && own != typed && words_.may_go_on(child, rest[1], rest[2]);
    if (!left_out && !replaced) continue;
    const std::size_t meant = Channel::class_of(words_.alphabet()[own]);
    if (meant == Channel::digits) continue;
    if (left_out) mistake(place, child, read, channel_.leave_out(place.before, meant));
    if (!replaced) continue;
    mistake(place, child, read + 1, channel_.substitute(meant, typed_classes_[read]) + first_letter(place));
  }
}

/// Go on after a mistake.
void NearWords::mistake(const Place& place, WordTree::Node node, std::size_t read, double cost) {
  Place next{node, static_cast<std::uint32_t>(read), place.edits + 1, place.before,
             place.cost + cost + options_.edit_cost};
  if (score_below(next) - cost_to_come(next.edits) < least_) return;
  if (next.edits == mistakes_) return finish(place, next);
  if (node == place.node) return look_from(next);
  next.before = static_cast<std::uint32_t>(Channel::class_of(words_.letter(node)));
  meant_ += words_.letter(node);
  look_from(next);
  meant_.pop_back();
}

/// Read the rest as it is typed; what it leads to is a word, or the beginning of words.
void NearWords::finish(const Place& place, Place last) {
  const std::uint32_t mistaken = last.read;
  const WordTree::Node begun = last.node;
  for (; last.read < typed_.size(); ++last.read) {
    last.node = words_.child_at(last.node, typed_places_[last.read]);
    if (last.node == WordTree::none) return;
  }
  if (last.node == WordTree::root || last.node == typed_node_) return;
  if (options_.whole && !words_.is_word(last.node)) return;
  const double log_count = options_.whole ? words_.log_count(last.node) : words_.log_total(last.node);
  if (log_count - last.cost < least_) return;
  std::u32string letters = meant_;
  if (begun != place.node) letters += words_.letter(begun);
  letters += typed_.substr(mistaken);
  add({last.node, std::move(letters), last.cost, last.edits, typed_.size() - mistaken, log_count});
}

/// Keep a word that was found, if it is among the best, unless it was found with likelier mistakes before.
void NearWords::add(NearWord near) {
  const auto same =
      std::find_if(found_.begin(), found_.end(), [&](const auto& each) { return each.node == near.node; });
  if (same != found_.end()) {
    if (!is_likelier_way(near, *same)) return;
    found_.erase(same);
  }
  found_.insert(std::upper_bound(found_.begin(), found_.end(), near, is_nearer), std::move(near));
  if (found_.size() > options_.keep) found_.pop_back();
  least_ = std::max(least_, found_.front().score() - options_.band);
  if (found_.size() == options_.keep) least_ = std::max(least_, found_.back().score());
  while (found_.back().score() < least_) found_.pop_back();
}

}  // namespace halfword
