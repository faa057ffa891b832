#include "rank/duplicates.h"

#include <algorithm>
#include <array>
#include <functional>
#include <iterator>
#include <utility>

namespace halfword {
namespace {

constexpr std::size_t usual_page = 10;      // texts that are shown, as a rule
constexpr std::size_t shortest_plural = 4;  // bytes; `gas` and `bus` are no plurals
constexpr std::array<std::string_view, 5> with_e{"che", "she", "xe", "sse", "zze"};  // watches, boxes

bool is_letter_or_digit(char byte) {
  const auto value = static_cast<unsigned char>(byte);
  return value >= 128 || (value >= '0' && value <= '9') || (value >= 'a' && value <= 'z') ||
         (value >= 'A' && value <= 'Z');
}

/// Take the ending of a plural off the word that begins at `begin`. Words in -ie and -che, which only look like one,
/// lose it too, so that they and their plurals stay the same.
void make_singular(std::string& form, std::size_t begin) {
  const auto is_long = [&] { return form.size() >= begin + shortest_plural; };
  if (is_long() && form.ends_with('s') && !form.ends_with("ss")) form.pop_back();
  if (!is_long()) return;
  const auto ends_word = [&](std::string_view ending) { return form.ends_with(ending); };
  if (form.ends_with("ie")) {
    form.replace(form.size() - 2, 2, "y");
  } else if (std::any_of(with_e.begin(), with_e.end(), ends_word)) {
    form.pop_back();
  }
}

void append_word(std::string& form, std::string_view word) {
  const std::size_t begin = form.size();
  std::copy_if(word.begin(), word.end(), std::back_inserter(form), is_letter_or_digit);
  make_singular(form, begin);
}

}  // namespace

std::string plain_form(std::string_view text) {
  std::string form;
  form.reserve(text.size());
  for (std::size_t first = 0; first < text.size();) {
    const std::size_t end = std::min(text.find(' ', first), text.size());
    append_word(form, text.substr(first, end - first));
    first = end + 1;
  }
  return form.empty() ? std::string(text) : form;  // a text of punctuation alone stands for itself
}

bool Shown::add(std::string_view text) {
  std::string form = plain_form(text);
  const std::size_t hash = std::hash<std::string>()(form);
  for (auto found = std::find(hashes_.begin(), hashes_.end(), hash); found != hashes_.end();
       found = std::find(found + 1, hashes_.end(), hash)) {
    if (forms_[static_cast<std::size_t>(found - hashes_.begin())] == form) return false;
  }
  if (forms_.empty()) {  // few are shown, and no more than a page of most answers
    hashes_.reserve(usual_page);
    forms_.reserve(usual_page);
  }
  hashes_.push_back(hash);
  forms_.push_back(std::move(form));
  return true;
}

}  // namespace halfword
