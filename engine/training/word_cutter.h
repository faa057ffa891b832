#pragma once

#include <cstddef>
#include <functional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "lm/pieces.h"

namespace halfword {

/// Cuts queries into pieces as `Pieces` does, and remembers the pieces of frequent words. That is possible where no
/// piece reaches from one word into the next, and where each merge depends on its word alone, that is with BPE.
/// Each thread has one of its own.
class WordCutter {
 public:
  explicit WordCutter(const Pieces& pieces);

  /// The pieces of a query; they are valid until the next call.
  const std::vector<PieceId>& cut(std::string_view query);

 private:
  struct Hash {
    using is_transparent = void;
    std::size_t operator()(std::string_view text) const { return std::hash<std::string_view>{}(text); }
  };

  void add_word(std::string_view word);
  void append(const std::vector<PieceId>& pieces);

  const Pieces& pieces_;
  bool by_words_;
  std::unordered_map<std::string, std::vector<PieceId>, Hash, std::equal_to<>> known_;
  std::vector<PieceId> cut_;
};

}  // namespace halfword
