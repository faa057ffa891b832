#include "rank/duplicates.h"

#include <algorithm>

namespace halfword {
namespace {

constexpr std::size_t shortest_plural = 4;  // bytes; `gas` and `bus` are no plurals

bool is_letter_or_digit(char byte) {
  const auto value = static_cast<unsigned char>(byte);
  return value >= 128 || (value >= '0' && value <= '9') || (value >= 'a' && value <= 'z') ||
         (value >= 'A' && value <= 'Z');
}

void append_word(std::string& form, std::string_view word) {
  const std::size_t begin = form.size();
  for (const char byte : word) {
    if (is_letter_or_digit(byte)) form.push_back(byte);
  }
  const std::string_view added = std::string_view(form).substr(begin);
  if (added.size() >= shortest_plural && added.ends_with('s') && !added.ends_with("ss")) form.pop_back();
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

}  // namespace halfword
