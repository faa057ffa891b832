#include "sources/other_order.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "sort.h"
#include "text/characters.h"
#include "text/fold.h"

namespace halfword {
namespace {

/// The words of a text; names in programs have them between underscores.
void split_words(std::string_view text, std::vector<std::string_view>& parts) {
  parts.clear();
  for (std::size_t begin = 0; begin <= text.size();) {
    const std::size_t end = std::min(text.find_first_of(" _", begin), text.size());
    parts.push_back(text.substr(begin, end - begin));
    begin = end + 1;
  }
}

}  // namespace

void keep_best(std::vector<FoundQuery>& found, std::size_t most) {
  sort_list(found, [](const FoundQuery& left, const FoundQuery& right) { return left.text < right.text; });
  std::size_t kept = 0;
  for (FoundQuery& each : found) {
    if (kept > 0 && found[kept - 1].text == each.text) {
      found[kept - 1].matched = std::max(found[kept - 1].matched, each.matched);
      found[kept - 1].weight = std::max(found[kept - 1].weight, each.weight);
    } else {
      if (&found[kept] != &each) found[kept] = std::move(each);
      ++kept;
    }
  }
  found.resize(kept);
  sort_list(found, [](const FoundQuery& left, const FoundQuery& right) {
    return left.worth() != right.worth() ? left.worth() > right.worth() : left.text < right.text;
  });
  found.resize(std::min(found.size(), most));
}

/// Keeps the words of a text, and what they are compared by.
class OtherOrder::Words {
 public:
  /// Take the words of what was typed, as they are or folded.
  void take_typed(std::string_view text, bool folds) {
    split_words(text, words_);
    spell(is_plain(text) || !folds);
  }

  /// Take the words of a query, each with the parts that apostrophes and hyphens join.
  void take_query(std::string_view text, bool folds) {
    const bool plain = is_plain(text);
    split_words(text, words_);
    if (!plain) add_parts();
    spell(plain || !folds);
  }

  /// What the words are compared by.
  std::span<const std::string_view> compared() const { return compared_; }

  /// How many bytes of the text stand for the typed words, each of which takes one word of it; none if one is missing.
  /// The last one stands for a word that begins so, unless it has ended; so do all if they are abbreviated. No words
  /// are left afterwards.
  std::optional<std::size_t> matched(std::span<const std::string_view> whole, std::string_view begun, bool ended,
                                     bool abbreviated) {
    std::size_t matched = 0;
    const auto use = [&](const auto& fits) {
      const auto found = std::find_if(compared_.begin(), compared_.end(), fits);
      if (found == compared_.end()) return false;
      const std::string_view word = words_[static_cast<std::size_t>(found - compared_.begin())];
      matched = std::max(matched, static_cast<std::size_t>(word.data() + word.size() - words_.front().data()));
      *found = {};
      return true;
    };
    for (const std::string_view wanted : whole) {
      if (wanted.empty()) continue;  // a hyphen between spaces
      const auto fits = [&](std::string_view word) { return abbreviated ? word.starts_with(wanted) : word == wanted; };
      if (!use(fits)) return std::nullopt;
    }
    const auto fits = [&](std::string_view word) { return ended ? word == begun : word.starts_with(begun); };
    if (!use([&](std::string_view word) { return !word.empty() && fits(word); })) return std::nullopt;
    return matched;
  }

 private:
  void add_parts() {
    compared_.swap(words_);
    words_.clear();
    for (const std::string_view word : compared_) {
      words_.push_back(word);
      std::size_t begin = 0;  // of a part
      for (std::size_t place = 0; place < word.size();) {
        const std::string_view character = first_character(word.substr(place));
        const bool parts = is_sign(character);
        if (parts && begin < place) words_.push_back(word.substr(begin, place - begin));
        place += character.size();
        if (parts) begin = place;
      }
      if (begin > 0 && begin < word.size()) words_.push_back(word.substr(begin));
    }
  }

  void spell(bool as_they_are) {
    if (as_they_are) {
      compared_ = words_;
      return;
    }
    folded_.clear();
    for (const std::string_view word : words_) folded_.push_back(fold(word));
    compared_.assign(folded_.begin(), folded_.end());
  }

  std::vector<std::string_view> words_;
  std::vector<std::string> folded_;
  std::vector<std::string_view> compared_;
};

/// Looks for the queries of one typed text.
class OtherOrder::Finder {
 public:
  Finder(const OtherOrder& parts, std::string_view typed, const Policy& policy, bool folds)
      : parts_(parts), typed_(typed), policy_(policy), folds_(folds), key_(fold(typed)) {
    split_words(key_, whole_);
    ended_ = typed.ends_with(' ') || typed.ends_with('_');  // the last word is whole, too
    if (ended_) whole_.pop_back();
    begun_ = whole_.back();
    whole_.pop_back();
    wanted_.take_typed(typed, folds);
  }

  std::vector<FoundQuery> find_abbreviated() {
    const auto is_short = [&](std::string_view word) {
      return static_cast<double>(width_of(word)) < policy_.abbreviated_fewest_typed;
    };
    if (begun_.empty() || whole_.empty() || std::any_of(whole_.begin(), whole_.end(), is_short)) return {};
    abbreviated_ = true;
    std::string_view longest = begun_;
    for (const std::string_view word : whole_) longest = word.size() > longest.size() ? word : longest;
    const auto most = static_cast<std::size_t>(policy_.reordered_most_begun);
    for (const std::size_t word : parts_.words_.best_of(longest, most)) look_at(word);
    keep_best(found_, static_cast<std::size_t>(policy_.reordered_count));
    return std::move(found_);
  }

  std::vector<FoundQuery> find() {
    if (begun_.empty()) return {};
    const std::optional<std::size_t> rarest = rarest_word();
    if (!rarest && !whole_.empty()) return {};
    if (rarest) look_at(*rarest);
    // Of a frequent word only some queries are listed: those of the words that may be begun are looked at as well.
    if (!rarest || listed_ < parts_.words_.logged_at(*rarest)) {
      const auto most = static_cast<std::size_t>(policy_.reordered_most_begun);
      for (const std::size_t word : parts_.words_.best_of(begun_, most)) look_at(word);
    }
    keep_best(found_, static_cast<std::size_t>(policy_.reordered_count));
    return std::move(found_);
  }

 private:
  /// The whole word that the fewest queries hold; none if one of them is not in the index.
  std::optional<std::size_t> rarest_word() const {
    std::optional<std::size_t> rarest;
    for (const std::string_view word : whole_) {
      if (word.empty()) continue;
      const auto [position, exact] = parts_.words_.place_of(word);
      if (!exact) return std::nullopt;
      if (!rarest || parts_.words_.logged_at(position) < parts_.words_.logged_at(*rarest)) rarest = position;
    }
    return rarest;
  }

  /// Check the queries of a word, as long as enough work is left.
  void look_at(std::size_t word) {
    const std::vector<std::size_t> places = parts_.places_of(word);
    listed_ = places.size();
    for (const std::size_t place : places) parts_.queries_.expect_text(place);
    for (const std::size_t place : places) {
      if (static_cast<double>(checked_) >= policy_.reordered_most_checked) return;
      ++checked_;
      parts_.queries_.read_text(place, text_);
      if (surely_lacks_words()) continue;
      if (text_.starts_with(typed_) || (ended_ && text_ == typed_.substr(0, typed_.size() - 1))) continue;
      words_.take_query(text_, folds_);
      const std::span<const std::string_view> wanted = wanted_.compared();
      const auto matched = words_.matched(wanted.first(whole_.size()), wanted[whole_.size()], ended_, abbreviated_);
      if (matched) found_.push_back({text_, static_cast<double>(parts_.queries_.logged_at(place)), *matched});
    }
  }

  /// Whether the query that is checked lacks letters of a typed word. Most do, and need not be split into words.
  bool surely_lacks_words() const {
    if (folds_ && !is_plain(text_)) return false;
    const auto lacks = [&](std::string_view word) { return text_.find(word) == std::string::npos; };
    const std::span<const std::string_view> wanted = wanted_.compared().first(whole_.size() + 1);
    return std::any_of(wanted.rbegin(), wanted.rend(), lacks);
  }

  const OtherOrder& parts_;
  std::string_view typed_;
  const Policy& policy_;
  bool folds_;
  std::string key_;                      // the typed text, folded,
  std::vector<std::string_view> whole_;  // its words
  std::string_view begun_;               // and the last one, by its beginning
  bool ended_ = false;                   // or whole
  bool abbreviated_ = false;             // all are words by their beginnings
  Words wanted_;                         // what those of a query are compared with
  std::string text_;                     // of the query that is checked
  Words words_;                          // and its words
  std::vector<FoundQuery> found_;
  std::size_t checked_ = 0;
  std::size_t listed_ = 0;  // queries of the word looked at last
};

OtherOrder::OtherOrder(const ModelFile& file, const Popular& queries)
    : queries_(queries),
      words_(file, "order"),
      places_(file.array<std::uint8_t>("order.places")),
      begin_(file.array<std::uint32_t>("order.begin")) {
  const bool sound = begin_.size() == words_.size() + 1 && std::is_sorted(begin_.begin(), begin_.end()) &&
                     begin_.back() <= places_.size();
  if (!sound) throw ModelFileError("the queries by their words make no sense");
}

std::vector<std::size_t> OtherOrder::places_of(std::size_t word) const {
  std::vector<std::size_t> places;
  std::size_t place = 0;
  std::size_t shift = 0;
  std::size_t step = 0;
  for (const std::uint8_t byte : places_.subspan(begin_[word], begin_[word + 1] - begin_[word])) {
    step |= static_cast<std::size_t>(byte & 0x7F) << shift;
    shift = std::min<std::size_t>(shift + 7, 56);
    if ((byte & 0x80) != 0) continue;
    place += step;
    if (place >= queries_.size()) break;
    places.push_back(place);
    step = shift = 0;
  }
  return places;
}

std::vector<FoundQuery> OtherOrder::find_abbreviated(std::string_view typed, const Policy& policy, bool folds) const {
  return Finder(*this, typed, policy, folds).find_abbreviated();
}

bool OtherOrder::holds(std::string_view word) const {
  const auto [place, exact] = words_.place_of(fold(word));
  return exact;
}

std::vector<FoundQuery> OtherOrder::find(std::string_view typed, const Policy& policy, bool folds) const {
  return Finder(*this, typed, policy, folds).find();
}

}  // namespace halfword
