#include "store/small_blocks.h"

#include <new>

namespace halfword {

void* SmallBlocks::take(std::size_t bytes) {
  const std::size_t size = rounded(bytes);
  if (size > largest) return ::operator new(bytes);
  const std::lock_guard lock(mutex_);
  if (void* const known = free_[size / step]) {
    free_[size / step] = *static_cast<void**>(known);
    return known;
  }
  if (left_ < size) {
    if (left_ > 0) keep(next_, left_);
    slabs_.emplace_back(new std::byte[slab]);  // make_unique_for_overwrite is missing where pages are compiled
    next_ = slabs_.back().get();
    left_ = slab;
  }
  void* const block = next_;
  next_ += size;
  left_ -= size;
  return block;
}

void SmallBlocks::give_back(void* block, std::size_t bytes) {
  const std::size_t size = rounded(bytes);
  if (size > largest) return ::operator delete(block);
  const std::lock_guard lock(mutex_);
  keep(block, size);
}

void SmallBlocks::keep(void* block, std::size_t size) {
  *static_cast<void**>(block) = free_[size / step];
  free_[size / step] = block;
}

}  // namespace halfword
