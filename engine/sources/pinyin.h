#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "rank/policy.h"
#include "sources/other_order.h"
#include "store/model_file.h"
#include "store/popular.h"

namespace halfword {

/// Finds known queries by what else is typed for them: Chinese characters by their pinyin (`shouji`, `sj` and `手ji`
/// find `手机`), kana while they are composed, words on the wrong keyboard. The engine knows no language;
/// `training/pinyin.py` and `training/latin_keys.py` say what stands in the index.
///
/// It is a popularity index over keys, `pinyin.*`, and an array that tells where the query of each key lies in the
/// index of queries. A key is what is typed, a zero byte, one letter per character of the query that tells how many
/// bytes are typed for it (`a` for 1), and so many zero bytes that all keys differ.
class Pinyin {
 public:
  Pinyin(const ModelFile& file, const Popular& queries);

  /// The most typed queries whose keys begin with `typed`, the most typed first.
  std::vector<FoundQuery> find(std::string_view typed, const Policy& policy) const;

 private:
  const Popular& queries_;
  Popular keys_;
  std::span<const std::uint32_t> position_;
};

}  // namespace halfword
