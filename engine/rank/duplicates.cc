#include "rank/duplicates.h"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <limits>
#include <utility>

#include "search/finished.h"
#include "text/fold.h"
#include "text/inflections.h"

namespace halfword {
namespace {

/// Whether a byte tells texts apart: `c++` and `c#` are not the same.
bool tells_apart(char byte) {
  const auto value = static_cast<unsigned char>(byte);
  return value >= 128 || (value >= '0' && value <= '9') || (value >= 'a' && value <= 'z') ||
         (value >= 'A' && value <= 'Z') || value == '+' || value == '#';
}

std::string plain_word(std::string_view word) {
  std::string plain;
  std::copy_if(word.begin(), word.end(), std::back_inserter(plain), tells_apart);
  make_singular(plain);
  return plain;
}

/// Call `visit` with the plain form of each word of a text.
template <typename Visit>
void visit_words(std::string_view text, const Visit& visit) {
  const std::string key = is_plain(text) ? std::string() : fold(text, Hyphen::space);
  if (!key.empty()) text = key;
  for (std::size_t first = 0; first < text.size();) {
    const std::size_t end = std::min(text.find(' ', first), text.size());
    visit(plain_word(text.substr(first, end - first)));
    first = end + 1;
  }
}

std::string unspaced_form(std::string_view text) {
  std::string form = is_plain(text) ? std::string(text) : fold(text, Hyphen::space);
  std::erase(form, ' ');
  return form;
}

double found_in(const std::unordered_map<std::string, double>& counts, const std::string& form) {
  const auto place = counts.find(form);
  return place == counts.end() ? 0.0 : place->second;
}

bool is_ascii(std::string_view text) {
  return std::all_of(text.begin(), text.end(), [](char byte) { return static_cast<unsigned char>(byte) < 128; });
}

}  // namespace

void merge_spellings(std::string_view typed, double typed_count, const std::vector<Proposal>& proposals,
                     std::vector<double>& scores) {
  const auto is_plain_text = [](const Proposal& each) { return is_ascii(each.text); };
  if (is_ascii(typed) && std::all_of(proposals.begin(), proposals.end(), is_plain_text)) return;
  const std::string typed_key = fold(typed);
  std::vector<std::string> keys;
  for (const Proposal& each : proposals) keys.push_back(fold(each.text));
  const std::vector<double> given = scores;
  const bool has_accents = !is_ascii(typed) && typed_key != typed;
  const auto goes_on = [&](const Proposal& each) { return each.count > 0.0 && each.text.starts_with(typed); };
  const auto is_better = [&](std::size_t one, std::size_t other) {
    if (has_accents && goes_on(proposals[one]) != goes_on(proposals[other])) return goes_on(proposals[one]);
    const double difference = proposals[one].count - proposals[other].count;
    if (difference != 0.0) return difference > 0.0;
    return given[one] != given[other] ? given[one] > given[other] : one < other;
  };
  for (std::size_t place = 0; place < given.size(); ++place) {
    std::size_t best = place;  // of those with the same key, of which there are few
    for (std::size_t other = 0; other < given.size(); ++other) {
      if (keys[other] == keys[place] && is_better(other, best)) best = other;
    }
    if (best == place || (is_ascii(proposals[place].text) && is_ascii(proposals[best].text))) continue;
    scores[best] = log_add(scores[best], scores[place]);
    scores[place] = std::numeric_limits<double>::quiet_NaN();
  }
  for (std::size_t place = 0; place < given.size(); ++place) {
    const Proposal& each = proposals[place];
    if (keys[place] != typed_key || each.text == typed || !(std::max(each.count, 0.0) < typed_count)) continue;
    if (!is_ascii(each.text) || !is_ascii(typed)) scores[place] = std::numeric_limits<double>::quiet_NaN();
  }
}

std::optional<double> Shown::add(std::string form, double count) {
  const auto [place, is_new] = often_.try_emplace(std::move(form), count);
  if (is_new) return std::nullopt;
  return std::exchange(place->second, std::max(place->second, count));
}

bool Shown::add_unspaced(std::string_view text) { return !unspaced_.insert(unspaced_form(text)).second; }

void KnownForms::add(std::string_view text, double count) {
  texts_.push_back(text);
  for (double* most : {&by_words_[unordered_form(text)], &by_letters_[unspaced_form(text)]}) {
    *most = std::max(*most, count);
  }
}

double KnownForms::most_with_words_of(std::string_view text) const { return found_in(by_words_, unordered_form(text)); }

double KnownForms::most_with_letters_of(std::string_view text) const {
  return found_in(by_letters_, unspaced_form(text));
}

bool KnownForms::go_on_from(std::string_view text) const {
  return std::any_of(texts_.begin(), texts_.end(), [&](std::string_view known) {
    return known.size() > text.size() && known[text.size()] == ' ' && known.starts_with(text);
  });
}

std::string plain_form(std::string_view text) {
  std::string form;
  form.reserve(text.size());
  visit_words(text, [&](const std::string& word) { form += word; });
  if (!form.empty()) return form;
  return is_plain(text) ? std::string(text) : fold(text, Hyphen::space);  // punctuation alone stands for itself
}

std::string unordered_form(std::string_view text) {
  std::vector<std::string> words;
  visit_words(text, [&](std::string word) { words.push_back(std::move(word)); });
  std::sort(words.begin(), words.end());
  std::string form;
  for (const std::string& word : words) form.append(word).push_back(' ');
  return form;
}

}  // namespace halfword
