#include "readings/folding.h"

#include <algorithm>
#include <utility>

#include "text/characters.h"
#include "text/escape.h"
#include "text/fold.h"

namespace halfword {
namespace {

const std::string part_name = "words.folded";

/// Forms that are looked at for each beginning that is wanted: many forms begin alike.
constexpr std::size_t forms_per_beginning = 4;

/// Whether a word has letters that a log without accents does not know. Signs alone were typed on purpose.
bool has_other_letters(std::string_view word) {
  return std::any_of(word.begin(), word.end(), [](char byte) { return static_cast<unsigned char>(byte) > 127; });
}

std::ptrdiff_t signs_in(std::string_view text) {
  return std::count_if(text.begin(), text.end(), [](char byte) { return byte == '\'' || byte == '-' || byte == '`'; });
}

/// The signs of a text and its letters with accents, each as it is without, sorted.
std::vector<std::string> marks_in(std::string_view text) {
  std::vector<std::string> marks(static_cast<std::size_t>(signs_in(text)));
  for (std::size_t place = 0; place < text.size();) {
    const std::string_view character = first_character(text.substr(place));
    place += character.size();
    if (character.size() == 1) continue;
    if (std::string plain = fold(character); plain != character) marks.push_back(std::move(plain));
  }
  std::sort(marks.begin(), marks.end());
  return marks;
}

/// Whether a form lacks apostrophes or hyphens of what was typed. Who typed them meant them.
bool lacks_signs(std::string_view form, std::string_view typed) { return signs_in(form) < signs_in(typed); }

}  // namespace

bool lacks_marks(std::string_view text, std::string_view typed) {
  const std::vector<std::string> wanted = marks_in(typed);
  if (wanted.empty()) return false;
  const std::vector<std::string> found = marks_in(text);
  return !std::includes(found.begin(), found.end(), wanted.begin(), wanted.end());
}

double log_folded(std::string_view text, std::string_view typed, const Policy& policy) {
  const bool composing =
      ends_in_hangul(typed) && text.starts_with(typed.substr(0, previous_character(typed, typed.size())));
  if (composing) return policy.composing_log_probability;
  return lacks_marks(text, typed) ? policy.unfolded_log_probability : policy.folded_log_probability;
}

WrittenForms::WrittenForms(const ModelFile& file) : words_(file, "words.filter") {
  if (file.holds(part_name + ".text")) forms_.emplace(file, part_name);
}

std::vector<Reading> WrittenForms::readings_of(std::string_view typed, const Policy& policy) const {
  std::vector<Reading> readings;
  if (!forms_ && is_plain(typed)) return readings;
  std::string head;
  std::size_t begin = 0;
  for (std::size_t space = typed.find(' '); space != std::string_view::npos; space = typed.find(' ', begin)) {
    head += written(typed.substr(begin, space - begin)) + ' ';
    begin = space + 1;
  }
  const std::string_view part = typed.substr(begin);
  const auto most = static_cast<std::size_t>(policy.folded_most_readings);
  for (const std::string& beginning : beginnings(part, most)) {
    std::string text = head + beginning;
    const double log_probability = log_folded(text, typed, policy);
    if (text != typed) readings.push_back({std::move(text), log_probability, ReadingKind::folded});
  }
  return readings;
}

/// A word as it is written most.
std::string WrittenForms::written(std::string_view word) const {
  std::string key = fold(word);
  if (forms_) {
    const std::vector<std::size_t> found = forms_->best_of(key + '\0', 1);
    if (!found.empty() && !lacks_signs(form_at(found.front()), word)) return form_at(found.front());
  }
  return has_other_letters(word) && !words_.knows(word) && words_.knows(key) ? key : std::string(word);
}

/// How a word may be written whose beginning was typed: that part of each likely form that has the same letters.
std::vector<std::string> WrittenForms::beginnings(std::string_view part, std::size_t most) const {
  const std::string key = fold(part);
  std::vector<std::string> found;
  const auto add = [&](std::string text) {
    if (found.size() < most && std::find(found.begin(), found.end(), text) == found.end()) {
      found.push_back(std::move(text));
    }
  };
  if (forms_ && !key.empty()) {
    for (const std::size_t position : forms_->best_of(key, forms_per_beginning * most)) {
      const std::string form = form_at(position);
      std::string beginning = form.substr(0, covered_by(form, key).value_or(form.size()));
      if (!lacks_signs(beginning, part)) add(std::move(beginning));
    }
  }
  std::erase(found, part);
  if (found.empty()) found.push_back(has_other_letters(part) && !ends_in_hangul(part) ? key : std::string(part));
  return found;
}

std::string WrittenForms::form_at(std::size_t position) const {
  const std::string text = forms_->at(position).text;
  return text.substr(std::min(text.find('\0'), text.size() - 1) + 1);
}

}  // namespace halfword
