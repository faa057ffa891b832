#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "sources/source.h"
#include "store/model_file.h"
#include "store/popular.h"

namespace halfword {

/// The same query in another spelling: with or without `www.`, spaces, signs, a doubled letter, `.com` at its end.
///
/// `spellings.py` explains what the letters of a text are and how likely a query is by the other spellings of it. The
/// arrays hold where queries lie in the popularity index, sorted by their letters, in blocks; they are not looked at
/// when the file is opened, and every read is bounded.
class Spellings : public Source {
 public:
  Spellings(const ModelFile& file, const Popular& popular);

  /// Propose how a query that has come to the reading may end, by what was typed in another spelling. Only where few
  /// queries go on from the reading.
  void propose(const Question& question, Proposals& proposals) const override;

 private:
  std::vector<TypedQuery> alike(std::string_view letters, std::size_t most) const;
  std::size_t read_block(std::size_t index, std::span<std::size_t> positions) const;

  const Popular& popular_;
  std::span<const std::uint8_t> by_letters_;
  std::span<const std::uint32_t> begin_;  // of each block, and the end of the last
  std::string_view domain_;
};

}  // namespace halfword
