#include "sources/elsewhere.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <utility>

#include "readings/folding.h"
#include "sources/inside_words.h"
#include "store/current_queries.h"
#include "text/characters.h"
#include "text/fold.h"
#include "text/inflections.h"

namespace halfword {
namespace {

constexpr std::ptrdiff_t most_typed_words = 16;  // of a longer text no other way to write it is looked for
constexpr std::size_t short_endings = 2;         // letters of an ending without which a word is looked for everywhere
constexpr std::size_t longest_cut = 12;          // letters without which it is looked for as a whole word

/// Count found queries with the live changes; what is removed counts nothing.
void count_now(const CurrentQueries& current, const LiveState* live, std::vector<FoundQuery>& found) {
  if (live == nullptr) return;
  for (FoundQuery& each : found) {
    each.count = live->removes(each.text) ? 0.0 : current.count_of(each.text, 0, current.size()).count;
  }
}

}  // namespace

/// One search, and what it has found so far.
class Elsewhere::Search {
 public:
  Search(const Elsewhere& indexes, bool folds, const LiveState* live)
      : queries_(indexes.queries_),
        policy_(indexes.policy_),
        other_order_(indexes.other_order_ ? &*indexes.other_order_ : nullptr),
        endings_(indexes.endings_ ? &*indexes.endings_ : nullptr),
        current_(indexes.queries_, nullptr, live),
        folds_(folds),
        inflects_(policy_.reordered_inflected > 0.0) {}

  std::vector<FoundQuery> find(const std::string& text, const LiveState* live) {
    if (std::count(text.begin(), text.end(), ' ') >= most_typed_words) return {};
    if (other_order_ != nullptr) add_by_words(text);
    add(find_inside(queries_, text, policy_, folds_));
    if (inflects_) add_joined(text);
    if (found_.empty()) add_written_otherwise(text);
    for (FoundQuery& each : found_) {
      const std::string_view matched = std::string_view(each.text).substr(0, each.matched);
      if (lacks_marks(matched, text)) each.weight *= std::exp(policy_.unfolded_log_probability);
    }
    count_now(current_, live, found_);
    keep_best(found_, static_cast<std::size_t>(policy_.reordered_count));
    return std::move(found_);
  }

 private:
  void add(std::vector<FoundQuery> found) {
    for (FoundQuery& each : found) found_.push_back(std::move(each));
  }

  /// Queries that go on from another text than the typed one; so much of them stands for what was typed.
  void add_begun(std::string_view text, std::size_t matched) {
    const auto most = static_cast<std::size_t>(policy_.reordered_count);
    for (TypedQuery& each : current_.most_typed(text, most, false).queries) {
      found_.push_back({std::move(each.text), each.count, matched});
    }
  }

  /// A text that is a query itself.
  void add_itself(const std::string& text) {
    const double count = current_.count_of(text, 0, current_.size()).count;
    if (count > 0.0) found_.push_back({text, count, text.size()});
  }

  /// Whether a longer query begins with a text.
  bool goes_on(const std::string& text) const {
    return current_.are_begun(text, current_.count_of(text, 0, current_.size()).count > 0.0 ? 2.0 : 1.0);
  }

  /// Queries that have the words of another text than the typed one as they are, the last one also at the end of a
  /// word, which may be an accident, or are made of it.
  void add_with_whole_words(const std::string& text) {
    add_with_words(text);
    for (FoundQuery& each : find_inside(queries_, text, policy_, folds_, true)) {
      each.weight = policy_.inside_factor;
      found_.push_back(std::move(each));
    }
  }

  /// Queries that have the words of another text than the typed one as they are, or are made of it.
  void add_with_words(const std::string& text) {
    add_made_of(text);
    if (const std::string folded = folds_ ? fold(text) : text; folded != text) add_made_of(folded);
    add(other_order_->find(text + ' ', policy_, folds_));
  }

  /// A query that is a text, and those that go on from its words.
  void add_made_of(const std::string& text) {
    add_itself(text);
    add_begun(text + ' ', text.size());
  }

  /// Queries that have the words of a text in another order, or in the singular: its last word, or, where the policy
  /// says so, any word in another form.
  void add_by_words(const std::string& text) {
    add(other_order_->find(text, policy_, folds_));
    for (const std::string& singular : singular_forms(text)) add_with_whole_words(singular);
    if (!inflects_) return;
    std::vector<std::string> others = in_other_number(text);
    if (std::optional<std::string> plural = changed_plural(text)) others.push_back(std::move(*plural));
    for (const std::string& other : others) add_as_written(other);
    const std::string singular = singular_before(text);
    if (singular == text) return;
    add_as_written(singular);
    for (const std::string& whole : singular_forms(singular)) add_with_whole_words(whole);
  }

  /// Queries that have the words of a text with one of them in another form, as the log inflects its words.
  void add_inflected(const std::string& text) {
    const auto is_word = [&](const std::string& word) { return other_order_->holds(word); };
    const OtherForms forms = other_forms(text, *endings_, is_word);
    for (const std::string& other : forms.begun) add_as_written(other);
    for (const std::string& other : forms.whole) add_with_whole_words(other);
  }

  /// Queries that go on from a text without a space inside it, or without all of them, or have it in another order:
  /// `log in` finds `login`, `2 x 4` finds `2x4 lumber`.
  void add_joined(const std::string& text) {
    std::string without_any;
    std::size_t spaces = 0;
    for (std::size_t place = 0; place < text.size(); ++place) {
      if (text[place] != ' ' || place + 1 == text.size()) {
        without_any += text[place];
        continue;
      }
      ++spaces;
      add_as_written(std::string(text).erase(place, 1));
    }
    if (spaces > 1) add_as_written(without_any);
  }

  /// Queries that go on from another text than the typed one, or have it in another order.
  void add_as_written(const std::string& text) {
    add_itself(text);
    add_begun(text, text.size());
    if (other_order_ != nullptr) add(other_order_->find(text, policy_, folds_));
  }

  /// Queries that go on from a text whose last space was typed too early, or, where the policy looks at such and no
  /// query goes on from what was typed, have its words in another form, or the text without the ending of a word
  /// (`schulen` finds `volkshochschule`), or a word that the last one begins with (`emekliler`), or words that begin as
  /// its words do (`comp sci`).
  void add_written_otherwise(const std::string& text) {
    if (text.ends_with(' ')) add_begun(text.substr(0, text.size() - 1), text.size() - 1);
    if (other_order_ == nullptr || !inflects_ || goes_on(text)) return;
    const bool is_query = current_.count_of(text, 0, current_.size()).count > 0.0;  // then it may be all that is meant
    if (endings_ != nullptr && found_.empty() && !is_query) add_inflected(text);
    for (const std::string& stem : without_endings(text, policy_.inside_fewest_ending, short_endings)) {
      if (found_.empty()) add_with_whole_words(stem);
    }
    if (found_.empty() && !is_query) add_cut(text);
    if (found_.empty()) add(other_order_->find_abbreviated(text, policy_, folds_));
  }

  /// Queries that have the last word without more letters: `emekliler` finds `emekli`. Beside other words it may be the
  /// beginning of one (`benzin fiyatları` finds `benzin fiyatı`); alone it must be a whole one.
  void add_cut(const std::string& text) {
    const std::size_t begin = text.rfind(' ') + 1;
    const double share = begin > 0 ? policy_.cut_least_share : policy_.cut_alone_least_share;
    const auto letters = static_cast<double>(width_of(std::string_view(text).substr(begin)));
    const double fewest = std::max(policy_.inside_fewest_ending, share * letters);
    for (const std::string& stem : without_endings(text, fewest, longest_cut)) {
      if (!found_.empty()) return;
      if (begin > 0) {
        add_as_written(stem);
      } else {
        add_with_words(stem);
      }
    }
  }

  const Popular& queries_;
  const Policy& policy_;
  const OtherOrder* other_order_;  // may be null
  const Endings* endings_;         // may be null
  CurrentQueries current_;
  bool folds_;
  bool inflects_;
  std::vector<FoundQuery> found_;
};

Elsewhere::Elsewhere(const ModelFile& file, const Popular& queries, const Policy& policy)
    : queries_(queries), policy_(policy) {
  if (file.holds("order.places")) other_order_.emplace(file, queries);
  if (file.holds("words.endings")) endings_.emplace(file.array<std::uint8_t>("words.endings"));
  if (file.holds("pinyin.position")) pinyin_.emplace(file, queries);
}

std::vector<FoundQuery> Elsewhere::find(const std::string& text, bool folds, const LiveState* live) const {
  return Search(*this, folds, live).find(text, live);
}

std::vector<FoundQuery> Elsewhere::find_by_pinyin(std::string_view text, const LiveState* live) const {
  std::vector<FoundQuery> found = pinyin_->find(text, policy_);
  count_now({queries_, nullptr, live}, live, found);
  return found;
}

}  // namespace halfword
