#pragma once

#include <algorithm>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace halfword {

/// How the words of a log are inflected: pairs of endings that take turns, such as `o` and `i` in `medico`, `medici`.
/// `training/endings.py` learns them and explains the array.
class Endings {
 public:
  explicit Endings(std::span<const std::uint8_t> array);

  /// The other forms that a word may have, in the order of the pairs.
  std::vector<std::string> forms_of(std::string_view word) const;

  /// A text with two words or more in another form, the same for all, in the order of the pairs.
  std::vector<std::string> all_in_one_form(std::string_view text) const;

 private:
  std::vector<std::pair<std::string_view, std::string_view>> pairs_;  // an ending, and the one in its place
};

/// The texts with one word in another form: those before the last, and the last, alone or with all others.
struct OtherForms {
  std::vector<std::string> inner;
  std::vector<std::string> last;
};

/// A text with each of its words in the other forms that it may have; of the words before the last only in those that
/// `is_word` knows. And with all words that may have it in the same form: `scarpa nera` for `scarpe nere`.
template <typename IsWord>
OtherForms other_forms(std::string_view text, const Endings& endings, const IsWord& is_word) {
  OtherForms forms;
  for (std::size_t begin = 0;;) {
    const std::size_t end = std::min(text.find(' ', begin), text.size());
    const bool last = end == text.size();
    for (const std::string& form : endings.forms_of(text.substr(begin, end - begin))) {
      if (!last && !is_word(form)) continue;
      (last ? forms.last : forms.inner)
          .push_back(std::string(text.substr(0, begin)).append(form).append(text.substr(end)));
    }
    if (last) break;
    begin = end + 1;
  }
  for (std::string& each : endings.all_in_one_form(text)) forms.last.push_back(std::move(each));
  return forms;
}

}  // namespace halfword
