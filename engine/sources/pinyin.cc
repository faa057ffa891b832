#include "sources/pinyin.h"

#include <algorithm>
#include <utility>

#include "text/characters.h"

namespace halfword {
namespace {

/// Whether a byte belongs to a letter: a Latin one, or one beyond ASCII.
bool is_of_letter(char byte) { return (byte >= 'a' && byte <= 'z') || static_cast<unsigned char>(byte) > 127; }

/// What is typed, without the spaces and apostrophes that may stand between syllables.
std::string typed_key(std::string_view typed) {
  std::string key(typed);
  std::erase_if(key, [](char byte) { return byte == ' ' || byte == '\''; });
  return key;
}

/// How many bytes of a query stand for the first bytes of its key.
std::size_t bytes_typed(std::string_view query, std::string_view key, std::size_t typed) {
  const std::string_view lengths = key.substr(std::min(key.find('\0') + 1, key.size()));
  std::size_t read = 0;
  std::size_t bytes = 0;
  for (const char length : lengths) {
    if (read >= typed || bytes >= query.size() || length == '\0') break;
    read += static_cast<std::size_t>(std::max(length - '`', 0));
    bytes += first_character(query.substr(bytes)).size();
  }
  return bytes;
}

}  // namespace

Pinyin::Pinyin(const ModelFile& file, const Popular& queries)
    : queries_(queries), keys_(file, "pinyin"), position_(file.array<std::uint32_t>("pinyin.position")) {
  const auto lies_inside = [&](std::uint32_t position) { return position < queries.size(); };
  const bool sound = position_.size() == keys_.size() && std::all_of(position_.begin(), position_.end(), lies_inside);
  if (!sound) throw ModelFileError("the queries by their pinyin make no sense");
}

std::vector<FoundQuery> Pinyin::find(std::string_view typed, const Policy& policy) const {
  const std::string key = typed_key(typed);
  const auto characters =
      static_cast<double>(key.size()) - static_cast<double>(std::count_if(key.begin(), key.end(), continues));
  std::vector<FoundQuery> found;
  if (key.empty() || !is_of_letter(key.back()) || characters < policy.pinyin_fewest_characters) return found;
  for (const std::size_t place : keys_.best_of(key, static_cast<std::size_t>(policy.pinyin_count))) {
    TypedQuery query = queries_.at(position_[place]);
    const auto same = [&](const FoundQuery& other) { return other.text == query.text; };
    if (query.text.starts_with(typed) || std::any_of(found.begin(), found.end(), same)) continue;
    const std::size_t matched = bytes_typed(query.text, keys_.at(place).text, key.size());
    found.push_back({std::move(query.text), query.count, matched});
  }
  return found;
}

}  // namespace halfword
