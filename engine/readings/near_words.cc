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

std::vector<NearWord> NearWords::find(std::u32string_view typed, const NearOptions& options) {
  typed_ = typed;
  typed_places_.clear();
  for (const char32_t letter : typed) typed_places_.push_back(words_.place_of(letter));
  options_ = options;
  least_ = options.least_score;
  places_.clear();
  waiting_.clear();
  found_.clear();
  wait({WordTree::root, 0, 0, 0, 0, Channel::beginning, 0.0});
  for (; !waiting_.empty() && budget_ > 0; --budget_) {
    const Waiting best = waiting_.front();
    std::pop_heap(waiting_.begin(), waiting_.end());
    waiting_.pop_back();
    const Place& place = places_[best.place];
    if (words_.log_total(place.node) - place.cost >= least_) go_on(best.place);
  }
  return std::exchange(found_, {});
}

std::uint32_t NearWords::note(const Place& place) {
  places_.push_back(place);
  return static_cast<std::uint32_t>(places_.size() - 1);
}

/// Go on from a place later, if a word beyond it can score enough. The further a place is, the sooner.
void NearWords::wait(const Place& place) {
  const double score = words_.log_total(place.node) - place.cost;
  if (score < least_) return;
  if (place.edits == options_.most_edits) return finish(place);
  const double left = static_cast<double>(typed_.size() - place.read);
  waiting_.push_back({score - 1.5 * left, note(place)});
  std::push_heap(waiting_.begin(), waiting_.end());
}

void NearWords::go_on(std::uint32_t number) {
  const Place place = places_[number];
  if (place.read == typed_.size()) finish(place);
  if (place.read < typed_.size()) {
    const WordTree::Node next = words_.child_at(place.node, typed_places_[place.read]);
    if (next != WordTree::none) {
      Place right = step(place, number, next, place.read + std::size_t{1}, 0.0);
      right.edits = place.edits;
      right.mistaken = place.mistaken;
      right.cost = place.cost;
      wait(right);
    }
  }
  make_mistakes(number);
}

/// Read the rest as it is typed; what it leads to is a word, or the beginning of words.
void NearWords::finish(Place place) {
  const Place begun = place;
  for (; place.read < typed_.size(); ++place.read) {
    place.node = words_.child_at(place.node, typed_places_[place.read]);
    if (place.node == WordTree::none) return;
  }
  if (place.edits == 0 || place.node == WordTree::root || (options_.whole && !words_.is_word(place.node))) return;
  const double log_count = options_.whole ? words_.log_count(place.node) : words_.log_total(place.node);
  if (log_count - place.cost >= least_) add(begun, place, log_count);
}

/// The place after one more mistake.
NearWords::Place NearWords::step(const Place& place, std::uint32_t from, WordTree::Node node, std::size_t read,
                                 double cost) const {
  const bool moved = node != place.node;
  return {node,
          from,
          static_cast<std::uint8_t>(read),
          static_cast<std::uint8_t>(read),
          static_cast<std::uint8_t>(place.edits + 1),
          moved ? static_cast<std::uint8_t>(Channel::class_of(words_.letter(node))) : place.before,
          place.cost + cost + options_.edit_cost};
}

/// Go on after one more mistake.
void NearWords::make_mistakes(std::uint32_t number) {
  const Place place = places_[number];
  const std::size_t read = place.read;
  const bool more = read < typed_.size();
  const std::size_t typed = more ? Channel::class_of(typed_[read]) : 0;
  const double first = place.before == Channel::beginning ? channel_.first_letter() : 0.0;
  const auto [begin, end] = words_.children(place.node);
  for (WordTree::Node child = begin; child < end; ++child) {
    if (words_.log_total(child) - place.cost - options_.edit_cost < least_) continue;
    const std::size_t meant = Channel::class_of(words_.letter(child));
    if (more && words_.place(child) != typed_places_[read]) {
      wait(step(place, number, child, read + 1, channel_.substitute(meant, typed) + first));
    }
    // What the beginning of a word has after the last letter typed was not left out, but is still to come.
    if (more || options_.whole) wait(step(place, number, child, read, channel_.leave_out(place.before, meant)));
  }
  if (!more) return;
  wait(step(place, number, place.node, read + 1, channel_.insert(place.before, typed)));
  if (read + 1 == typed_.size() || typed_[read] == typed_[read + 1]) return;
  const WordTree::Node next = words_.child_at(place.node, typed_places_[read + 1]);
  const WordTree::Node second = next == WordTree::none ? next : words_.child_at(next, typed_places_[read]);
  if (second == WordTree::none) return;
  const std::size_t meant_first = Channel::class_of(typed_[read + 1]);
  const Place between = step(place, number, next, read, 0.0);
  wait(step(place, note(between), second, read + 2, channel_.swap(meant_first, typed) + first));
}

/// The letters on the way to a place.
std::u32string NearWords::letters_to(Place place) const {
  std::u32string letters;
  for (; place.node != WordTree::root; place = places_[place.from]) {
    if (place.node != places_[place.from].node) letters += words_.letter(place.node);
  }
  std::reverse(letters.begin(), letters.end());
  return letters;
}

/// Keep a word that was found, if it is among the best, unless it was found with likelier mistakes before.
void NearWords::add(const Place& begun, const Place& place, double log_count) {
  const auto same =
      std::find_if(found_.begin(), found_.end(), [&](const auto& each) { return each.node == place.node; });
  NearWord near{place.node, letters_to(begun), place.cost, place.edits, typed_.size() - place.mistaken, log_count};
  near.letters += typed_.substr(begun.read);
  if (near.letters == typed_) return;
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
