#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace halfword {

/// Which rows of states and predictions are in use: they are taken in blocks, counted one by one, and a block is free
/// again when nothing needs any of its rows.
class RowPool {
 public:
  /// Nothing is in use but the first `kept` rows, which stay so. A block has `block` rows, a power of two.
  void reset(std::size_t kept, std::size_t block) {
    free_.clear();
    shift_ = static_cast<std::uint32_t>(std::countr_zero(block));
    blocks_ = (kept + block - 1) >> shift_;
    uses_.assign(size(), 1);
    in_use_.assign(blocks_, block);
  }

  /// The first row of a free block; its first `count` rows are in use now, once each.
  std::uint32_t take(std::size_t count) {
    if (free_.empty()) {
      free_.push_back(static_cast<std::uint32_t>(blocks_++));
      uses_.resize(size());
      in_use_.resize(blocks_);
    }
    const std::uint32_t taken = free_.back();
    free_.pop_back();
    in_use_[taken] = count;
    const std::uint32_t first = taken << shift_;
    for (std::size_t i = 0; i < count; ++i) uses_[first + i] = 1;
    return first;
  }

  /// How many rows the blocks have of which some row is in use.
  std::size_t rows_in_use() const { return (blocks_ - free_.size()) << shift_; }

  /// How many rows there had to be room for since the last reset.
  std::size_t size() const { return blocks_ << shift_; }

  /// More uses of a row.
  void use(std::uint32_t row, std::uint32_t more) { uses_[row] += more; }

  /// One use less of a row.
  void release(std::uint32_t row) {
    if (--uses_[row] > 0) return;
    const std::uint32_t owner = row >> shift_;
    if (--in_use_[owner] == 0) free_.push_back(owner);
  }

 private:
  std::vector<std::uint32_t> uses_;  // of each row
  std::vector<std::size_t> in_use_;  // rows of each block
  std::vector<std::uint32_t> free_;  // blocks
  std::size_t blocks_ = 0;
  std::uint32_t shift_ = 0;  // a block has 2^shift rows
};

}  // namespace halfword
