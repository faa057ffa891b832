#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace halfword {

/// Take a base-128 integer (low digits first) from the front of `rest`; false if there is none.
inline bool take_number(std::span<const std::uint8_t>& rest, std::size_t& number) {
  number = 0;
  for (int shift = 0; shift < 35 && !rest.empty(); shift += 7) {
    const std::uint8_t digit = rest.front();
    rest = rest.subspan(1);
    number += static_cast<std::size_t>(digit & 127) << shift;
    if (digit < 128) return true;
  }
  return false;
}

/// Take a number below 2^21 from bytes that are known to be sound; returns where the next one begins.
inline const std::uint8_t* take_small(const std::uint8_t* at, std::size_t& number) {
  number = *at++;
  if (number < 128) return at;
  number += (std::size_t{*at} << 7) - 128;
  if (*at++ < 128) return at;
  number += (std::size_t{*at++} << 14) - (std::size_t{128} << 7);
  return at;
}

}  // namespace halfword
