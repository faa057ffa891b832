#include "sources/other_order.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "sort.h"

namespace halfword {
namespace {

void split_at_spaces(std::string_view text, std::vector<std::string_view>& parts) {
  parts.clear();
  for (std::size_t begin = 0; begin <= text.size();) {
    const std::size_t end = std::min(text.find(' ', begin), text.size());
    parts.push_back(text.substr(begin, end - begin));
    begin = end + 1;
  }
}

/// How many bytes of a query stand for the typed words, each of which takes one word of it; none if one is missing. The
/// last one stands for a word that begins so, unless it has ended.
/// `words` is room for those of the query.
std::optional<std::size_t> matched_bytes(std::string_view query, std::span<const std::string_view> whole,
                                         std::string_view begun, bool ended, std::vector<std::string_view>& words) {
  split_at_spaces(query, words);
  std::size_t matched = 0;
  const auto take = [&](const auto& fits) {
    const auto found = std::find_if(words.begin(), words.end(), fits);
    if (found == words.end()) return false;
    matched = std::max(matched, static_cast<std::size_t>(found->data() + found->size() - query.data()));
    *found = {};
    return true;
  };
  for (const std::string_view wanted : whole) {
    if (!take([&](std::string_view word) { return word == wanted; })) return std::nullopt;
  }
  const auto fits = [&](std::string_view word) { return ended ? word == begun : word.starts_with(begun); };
  if (!take([&](std::string_view word) { return !word.empty() && fits(word); })) return std::nullopt;
  return matched;
}

}  // namespace

/// Looks for the queries of one typed text.
class OtherOrder::Finder {
 public:
  Finder(const OtherOrder& parts, std::string_view typed, const Policy& policy)
      : parts_(parts), typed_(typed), policy_(policy) {
    split_at_spaces(typed, whole_);
    ended_ = whole_.back().empty() && whole_.size() > 1;  // a space after the last word: it is whole, too
    if (ended_) whole_.pop_back();
    begun_ = whole_.back();
    whole_.pop_back();
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
    return best();
  }

 private:
  /// The whole word that the fewest queries hold; none if one of them is not in the index.
  std::optional<std::size_t> rarest_word() const {
    std::optional<std::size_t> rarest;
    for (const std::string_view word : whole_) {
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
      if (text_.starts_with(typed_) || (ended_ && text_ == typed_.substr(0, typed_.size() - 1))) continue;
      const auto matched = matched_bytes(text_, whole_, begun_, ended_, words_);
      if (matched) found_.push_back({text_, static_cast<double>(parts_.queries_.logged_at(place)), *matched});
    }
  }

  std::vector<FoundQuery> best() {
    sort_list(found_, [](const FoundQuery& left, const FoundQuery& right) {
      return left.count != right.count ? left.count > right.count : left.text < right.text;
    });
    const auto same = [](const FoundQuery& left, const FoundQuery& right) { return left.text == right.text; };
    found_.erase(std::unique(found_.begin(), found_.end(), same), found_.end());
    found_.resize(std::min(found_.size(), static_cast<std::size_t>(policy_.reordered_count)));
    return std::move(found_);
  }

  const OtherOrder& parts_;
  std::string_view typed_;
  const Policy& policy_;
  std::vector<std::string_view> whole_;  // words
  std::string_view begun_;               // the last one, by its beginning
  bool ended_ = false;                   // or whole
  std::string text_;                     // of the query that is checked
  std::vector<std::string_view> words_;  // and its words
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

std::vector<FoundQuery> OtherOrder::find(std::string_view typed, const Policy& policy) const {
  return Finder(*this, typed, policy).find();
}

}  // namespace halfword
