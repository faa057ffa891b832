#include "store/word_filter.h"

#include <algorithm>

namespace halfword {
namespace {

constexpr std::size_t bits_per_word = 16;  // with seven probes, one unknown word in 1,400 seems known
constexpr int probes = 7;

/// Call `visit` with every place of a word among so many bits until it returns false.
template <typename Visit>
void visit_places(std::string_view word, std::size_t bits, const Visit& visit) {
  const std::uint64_t hash = hash_of_word(word);
  const std::uint64_t step = (hash >> 17) | 1;
  for (int probe = 0; probe < probes; ++probe) {
    if (!visit((hash + static_cast<std::uint64_t>(probe) * step) % bits)) return;
  }
}

}  // namespace

std::uint64_t hash_of_word(std::string_view word) {
  std::uint64_t hash = 0xCBF29CE484222325U;
  for (const char byte : word) hash = (hash ^ static_cast<unsigned char>(byte)) * 0x100000001B3U;
  hash = (hash ^ (hash >> 32)) * 0xD6E8FEB86659FD93U;
  return hash ^ (hash >> 32);
}

std::vector<std::uint64_t> build_word_filter(std::span<const std::string_view> words) {
  std::vector<std::uint64_t> filter(std::max<std::size_t>(16, words.size() * bits_per_word / 64 + 1));
  for (const std::string_view word : words) {
    visit_places(word, filter.size() * 64, [&](std::size_t bit) {
      filter[bit / 64] |= std::uint64_t{1} << (bit % 64);
      return true;
    });
  }
  return filter;
}

WordFilter::WordFilter(const ModelFile& file, const std::string& name) : bits_(file.array<std::uint64_t>(name)) {
  if (bits_.empty()) throw ModelFileError("the filter " + name + " is empty");
}

bool WordFilter::knows(std::string_view word) const {
  bool known = true;
  visit_places(word, bits_.size() * 64, [&](std::size_t bit) {
    known = (bits_[bit / 64] >> (bit % 64)) & 1;
    return known;
  });
  return known;
}

}  // namespace halfword
