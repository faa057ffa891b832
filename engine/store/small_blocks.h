#pragma once

#include <array>
#include <cstddef>
#include <memory>
#include <mutex>
#include <vector>

namespace halfword {

/// Memory for many small blocks, without what the system's allocator adds to each of them.
///
/// Blocks are cut from slabs. What is given back waits for the next block of its size; all slabs are freed together.
/// Threads may share it.
class SmallBlocks {
 public:
  void* take(std::size_t bytes);
  void give_back(void* block, std::size_t bytes);

 private:
  static constexpr std::size_t step = 8;       // sizes are multiples of it, and so are addresses
  static constexpr std::size_t largest = 512;  // bytes; larger blocks come from the system
  static constexpr std::size_t slab = 65'536;

  static std::size_t rounded(std::size_t bytes) { return (bytes + step - 1) / step * step; }
  void keep(void* block, std::size_t bytes);

  std::mutex mutex_;
  std::vector<std::unique_ptr<std::byte[]>> slabs_;
  std::byte* next_ = nullptr;                     // the rest of the last slab
  std::size_t left_ = 0;                          // its bytes
  std::array<void*, largest / step + 1> free_{};  // the first block of each size that was given back; it has the next
};

}  // namespace halfword
