#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <utility>
#include <vector>

#include "training/windows.h"

namespace halfword {

/// Sort windows by their keys, of which only the low `bits` are used, by counting their digits; `spare` has room for as
/// many. Returns where the sorted windows are: in `windows` or in `spare`.
template <typename Key>
Window<Key>* sort_windows(Window<Key>* windows, Window<Key>* spare, std::size_t size, unsigned bits) {
  constexpr unsigned digit_bits = 11;
  constexpr std::size_t digits = std::size_t{1} << digit_bits;
  if (size < digits) {  // too few for counting to pay
    std::sort(windows, windows + size, [](const auto& left, const auto& right) { return left.key < right.key; });
    return windows;
  }
  const std::size_t passes = (bits + digit_bits - 1) / digit_bits;
  const auto digit = [](const Window<Key>& window, std::size_t pass) {
    return static_cast<std::size_t>(window.key >> (pass * digit_bits)) % digits;
  };
  std::vector<std::array<std::size_t, digits>> numbers(passes);
  for (std::size_t place = 0; place < size; ++place) {
    for (std::size_t pass = 0; pass < passes; ++pass) ++numbers[pass][digit(windows[place], pass)];
  }
  for (std::size_t pass = 0; pass < passes; ++pass) {
    std::array<std::size_t, digits>& begins = numbers[pass];
    if (begins[digit(windows[0], pass)] == size) continue;  // all are the same
    std::size_t before = 0;
    for (std::size_t& number : begins) before += std::exchange(number, before);
    for (std::size_t place = 0; place < size; ++place) spare[begins[digit(windows[place], pass)]++] = windows[place];
    std::swap(windows, spare);
  }
  return windows;
}

/// Make one window of equal neighbours; returns how many are left.
template <typename Key>
std::size_t join_equal(Window<Key>* windows, std::size_t size) {
  std::size_t kept = 0;
  for (std::size_t place = 0; place < size; ++place) {
    if (kept != 0 && windows[kept - 1].key == windows[place].key) {
      windows[kept - 1].count += windows[place].count;
    } else {
      windows[kept++] = windows[place];
    }
  }
  return kept;
}

}  // namespace halfword
