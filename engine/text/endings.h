#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace halfword {

/// How the words of a log are inflected: pairs of endings that take turns, such as `o` and `i` in `medico`, `medici`,
/// and of beginnings, such as the Arabic article. `training/endings.py` learns them and explains the array.
class Endings {
 public:
  struct Pair {
    std::string_view affix;
    std::string_view other;  // the one in its place
    bool begins;             // whether they are at the beginning of a word

    /// The other form of a word, if it may have one.
    std::optional<std::string> changed(std::string_view word) const;

    /// A text with two words or more in the other form.
    std::optional<std::string> all_changed(std::string_view text) const;
  };

  explicit Endings(std::span<const std::uint8_t> array);

  const std::vector<Pair>& pairs() const { return pairs_; }

 private:
  std::vector<Pair> pairs_;
};

/// The texts with one word in another form, or all words that may have it in the same one (`scarpa nera` for `scarpe
/// nere`).
struct OtherForms {
  std::vector<std::string> begun;  // the last word may go on: it stays, or begins otherwise
  std::vector<std::string> whole;  // the last word ends otherwise
};

/// A text with its words in the other forms that they may have; those before the last only in forms that `is_word`
/// knows.
template <typename IsWord>
OtherForms other_forms(std::string_view text, const Endings& endings, const IsWord& is_word) {
  OtherForms forms;
  for (const Endings::Pair& pair : endings.pairs()) {
    std::vector<std::string>& of_last = pair.begins ? forms.begun : forms.whole;
    for (std::size_t begin = 0; begin <= text.size();) {
      const std::size_t end = std::min(text.find(' ', begin), text.size());
      const bool last = end == text.size();
      const std::optional<std::string> form = pair.changed(text.substr(begin, end - begin));
      if (form && (last || is_word(*form))) {
        (last ? of_last : forms.begun)
            .push_back(std::string(text.substr(0, begin)).append(*form).append(text.substr(end)));
      }
      begin = end + 1;
    }
    if (std::optional<std::string> all = pair.all_changed(text)) of_last.push_back(std::move(*all));
  }
  return forms;
}

}  // namespace halfword
