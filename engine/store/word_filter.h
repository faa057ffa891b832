#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "store/model_file.h"

namespace halfword {

/// A hash of a word, the same on every machine: FNV-1a, its bits mixed once more.
std::uint64_t hash_of_word(std::string_view word);

/// The bits of a Bloom filter over words, as an array of a model file.
std::vector<std::uint64_t> build_word_filter(std::span<const std::string_view> words);

/// Which words occur in some queries, as a Bloom filter: a word that occurs is always known; of those that do not,
/// about one in 1,400 is taken for known.
class WordFilter {
 public:
  WordFilter(const ModelFile& file, const std::string& name);

  bool knows(std::string_view word) const;

 private:
  std::span<const std::uint64_t> bits_;
};

}  // namespace halfword
