#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "rank/policy.h"
#include "readings/reading.h"
#include "store/model_file.h"
#include "store/popular.h"

namespace halfword {

/// What a text in Chinese characters may stand for if some of them were chosen wrongly among those that sound the same:
/// `手击` for `手机`. `search/reference_homophones.py` says what is found.
///
/// It reads the index of queries by their pinyin (`sources/pinyin.h`) with what is typed for every character, which
/// stands in `pinyin.letter`, `pinyin.syllable` and `pinyin.syllable_begin`.
class Homophones {
 public:
  Homophones(const ModelFile& file, const Popular& queries);

  /// The likeliest corrections of `typed`, the best first.
  std::vector<Reading> readings_of(std::string_view typed, const Policy& policy) const;

 private:
  std::optional<std::string_view> syllable_of(char32_t letter) const;
  Reading reading(std::string_view typed, std::string_view text, const Policy& policy) const;

  const Popular& queries_;
  Popular keys_;
  std::span<const std::uint32_t> position_;
  std::span<const std::uint32_t> letter_;  // sorted
  std::span<const std::uint8_t> syllable_;
  std::span<const std::uint32_t> syllable_begin_;
};

}  // namespace halfword
