#pragma once

#include <bit>
#include <cstdint>
#include <vector>

namespace halfword {

/// A hash table from 64-bit keys to 32-bit values, built once and then only read.
class FlatMap {
 public:
  static constexpr std::uint32_t absent = UINT32_MAX;

  /// A table for `size` keys that is at most half full.
  explicit FlatMap(std::size_t size) : slots_(std::bit_ceil(2 * size + 2)), mask_(slots_.size() - 1) {}

  void insert(std::uint64_t key, std::uint32_t value) {
    Slot* slot = &slots_[place_of(key)];
    while (slot->value != absent && slot->key != key) slot = next(slot);
    *slot = {key, value};
  }

  /// The value of `key`, or `absent`.
  std::uint32_t find(std::uint64_t key) const {
    const Slot* slot = &slots_[place_of(key)];
    while (slot->value != absent && slot->key != key) slot = slot == &slots_.back() ? slots_.data() : slot + 1;
    return slot->value;
  }

 private:
  struct Slot {
    std::uint64_t key = 0;
    std::uint32_t value = absent;
  };

  Slot* next(Slot* slot) { return slot == &slots_.back() ? slots_.data() : slot + 1; }
  std::size_t place_of(std::uint64_t key) const { return ((key * 0x9E3779B97F4A7C15U) >> 20) & mask_; }

  std::vector<Slot> slots_;
  std::size_t mask_;
};

}  // namespace halfword
