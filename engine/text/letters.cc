#include "text/letters.h"

#include <algorithm>
#include <array>

namespace halfword {
namespace {

bool is_small(char byte) { return byte >= 'a' && byte <= 'z'; }

/// Take `start` off the front of `text`; false where that is not how it begins.
bool take(std::string_view& text, std::string_view start) {
  if (!text.starts_with(start)) return false;
  text.remove_prefix(start.size());
  return true;
}

}  // namespace

bool is_letter(char byte) {
  return static_cast<unsigned char>(byte) >= 128 || is_small(byte) || (byte >= 'A' && byte <= 'Z') ||
         (byte >= '0' && byte <= '9');
}

std::string_view without_lead(std::string_view text) {
  if (take(text, "http")) {
    take(text, "s");
    take(text, ":");
    while (take(text, "/")) continue;
  }
  if (take(text, "www") && !take(text, ".")) take(text, " ");
  return text;
}

std::string_view domain_of(std::string_view text) {
  const std::size_t dot = text.rfind('.');
  if (dot == std::string_view::npos) return {};
  const std::string_view name = text.substr(dot + 1);
  if (name.size() < 2 || name.size() > 4 || !std::all_of(name.begin(), name.end(), is_small)) return {};
  constexpr std::array<std::string_view, 7> second_level{".ac", ".co", ".com", ".edu", ".gov", ".net", ".org"};
  for (const std::string_view each : second_level) {
    if (name.size() == 2 && text.substr(0, dot).ends_with(each)) return text.substr(dot - each.size());
  }
  return text.substr(dot);
}

}  // namespace halfword
