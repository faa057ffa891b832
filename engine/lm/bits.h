#pragma once

#include <bit>

namespace halfword {

#if defined(__cpp_lib_bit_cast)

using std::bit_cast;

#else

/// `std::bit_cast` for compilers whose library does not have it.
template <typename To, typename From>
inline To bit_cast(const From& from) {
  static_assert(sizeof(To) == sizeof(From));
  To to;
  __builtin_memcpy(&to, &from, sizeof(To));
  return to;
}

#endif

}  // namespace halfword
