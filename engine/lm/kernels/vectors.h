#pragma once

// Vectors of floats, written once for all instruction sets. `Set` is a type that only the file of one set has, so that
// the linker does not merge the variants; it derives from `AnySet`.
//
// All sets compute the same bits of whatever is rounded later, to bytes or to bfloat16: they add in the same order and
// fuse nothing (`Apart`), for a last bit that differs now and then makes another byte. Where nothing is rounded later,
// products are fused with sums (`Fused`) on machines that can.

#include <cstddef>
#include <cstdint>

#include "lm/bits.h"
#include "lm/matrix.h"

namespace halfword {

/// The vectors of an instruction set, by their size in bytes.
template <std::size_t size>
struct Vectors {
  static constexpr std::size_t lanes = size / sizeof(float);
  typedef float Floats __attribute__((vector_size(size)));
  typedef std::int32_t Integers __attribute__((vector_size(size)));
  typedef std::uint32_t Words __attribute__((vector_size(size)));
};

/// What all instruction sets can do with their vectors. Some do it in fewer steps, and have functions of their own.
template <typename Set, std::size_t size>
struct AnySet : Vectors<size> {
  using Floats = typename Vectors<size>::Floats;
  using Words = typename Vectors<size>::Words;

  static Floats fused(Floats a, Floats b, Floats c) { return a * b + c; }
  static Floats larger(Floats a, Floats b) { return a > b ? a : b; }
  static Floats smaller(Floats a, Floats b) { return a < b ? a : b; }

  /// Read fewer values than there are lanes; the others are zeros.
  [[gnu::noinline]] static Floats read_some(const float* values, std::size_t count) {
    Floats vector = {};
    for (std::size_t i = 0; i < count; ++i) vector[i] = values[i];
    return vector;
  }

  [[gnu::noinline]] static void write_some(const Floats& vector, std::size_t count, float* values) {
    for (std::size_t i = 0; i < count; ++i) values[i] = vector[i];
  }

  /// 2^x as series(rest) × 2^whole, where `whole` is x rounded to a whole number, half to even, and `rest` what is
  /// left.
  template <typename Series>
  static Floats split_power(Floats x, const Series& series) {
    constexpr float whole_only = 12582912.0F;  // 1.5 × 2^23: what is added to it is rounded to a whole number
    const Floats shifted = x + whole_only;     // with the whole number in its last bits
    const Words exponent = (bit_cast<Words>(shifted) + 127U) << 23;
    return series(x - (shifted - whole_only)) * bit_cast<Floats>(exponent);
  }
};

/// a × b + c, rounded twice: the same bits everywhere.
template <typename Set>
struct Apart {
  using Floats = typename Set::Floats;
  static Floats multiply_add(Floats a, Floats b, Floats c) { return a * b + c; }
};

/// a × b + c in the fastest way of the instruction set.
template <typename Set>
struct Fused {
  using Floats = typename Set::Floats;
  static Floats multiply_add(Floats a, Floats b, Floats c) { return Set::fused(a, b, c); }
};

/// A vector with the same number in each lane.
template <typename Set>
inline typename Set::Floats same(float value) {
  return value - typename Set::Floats{};
}

/// The first `count` values as a vector; its other lanes are zeros.
template <typename Set>
inline typename Set::Floats read(const float* values, std::size_t count) {
  if (count != Set::lanes) return Set::read_some(values, count);
  typename Set::Floats vector;
  __builtin_memcpy(&vector, values, sizeof(vector));
  return vector;
}

/// Write the first `count` lanes.
template <typename Set>
inline void write(const typename Set::Floats& vector, std::size_t count, float* values) {
  if (count != Set::lanes) return Set::write_some(vector, count, values);
  __builtin_memcpy(values, &vector, sizeof(vector));
}

/// x, but no farther from 0 than `limit`.
template <typename Set>
inline typename Set::Floats within(float limit, typename Set::Floats x) {
  return Set::larger(same<Set>(-limit), Set::smaller(same<Set>(limit), x));
}

/// Sixteen sums, the lanes of one group of outputs, in the vectors of the instruction set.
template <typename Set>
struct Sums {
  static constexpr std::size_t parts = output_group / Set::lanes;
  typename Set::Floats vectors[parts] = {};

  /// Halves are added until one number is left.
  [[gnu::noinline]] float total() const {
    float sums[output_group];
    __builtin_memcpy(sums, vectors, sizeof(sums));
#pragma GCC unroll 4
    for (std::size_t half = output_group / 2; half > 0; half /= 2) {
#pragma GCC unroll 8
      for (std::size_t i = 0; i < half; ++i) sums[i] += sums[half + i];
    }
    return sums[0];
  }
};

/// Call `step(place, count)` for each vector of `size` values; only the last may have fewer than all lanes.
template <typename Set, typename Step>
inline void for_each_vector(std::size_t size, const Step& step) {
  std::size_t place = 0;
  for (; place + Set::lanes <= size; place += Set::lanes) step(place, Set::lanes);
  if (place < size) step(place, size - place);
}

/// Call `step(place, count, part)` for each vector; `part` is its number within a group of 16 values.
template <typename Set, typename Step>
inline void for_each_part(std::size_t size, const Step& step) {
  std::size_t first = 0;
  for (; first + output_group <= size; first += output_group) {
#pragma GCC unroll 16
    for (std::size_t part = 0; part < Sums<Set>::parts; ++part) step(first + part * Set::lanes, Set::lanes, part);
  }
  for (std::size_t part = 0; first < size; ++part, first += Set::lanes) {
    step(first, size - first < Set::lanes ? size - first : Set::lanes, part);
  }
}

/// 2^x with a relative error of about 1e-6, for x between −126 and 127.
template <typename Set, template <typename> typename Product>
inline typename Set::Floats power_of_two(typename Set::Floats x) {
  using Floats = typename Set::Floats;
  constexpr auto add = Product<Set>::multiply_add;
  return Set::split_power(x, [](Floats rest) {
    const Floats square = rest * rest;  // three short chains instead of a long one, in which each step waits
    const Floats low = add(same<Set>(6.9314694405e-1F), rest, same<Set>(1.0000001192F));
    const Floats middle = add(same<Set>(5.5507425219e-2F), rest, same<Set>(2.4022121727e-1F));
    const Floats high = add(same<Set>(1.3266970636e-3F), rest, same<Set>(9.6754599363e-3F));
    return add(add(high, square, middle), square, low);
  });
}

/// log x for a positive x, with an error of 2e-7.
template <typename Set, template <typename> typename Product>
inline typename Set::Floats logarithm(typename Set::Floats x) {
  using Floats = typename Set::Floats;
  using Words = typename Set::Words;
  using Integers = typename Set::Integers;
  // Split x into 2^power × part with part between √½ and √2.
  const Words shifted = bit_cast<Words>(x) - 0x3F3504F3U;
  const Floats power = __builtin_convertvector(bit_cast<Integers>(shifted) >> 23, Floats);
  const Floats rest = bit_cast<Floats>((shifted & 0x007FFFFFU) + 0x3F3504F3U) - 1.0F;
  Floats series = same<Set>(7.0376836292e-2F);
  for (const float term : {-1.1514610310e-1F, 1.1676998740e-1F, -1.2420140846e-1F, 1.4249322787e-1F, -1.6668057665e-1F,
                           2.0000714765e-1F, -2.4999993993e-1F, 3.3333331174e-1F}) {
    series = Product<Set>::multiply_add(series, rest, same<Set>(term));
  }
  const Floats square = rest * rest;
  const Floats correction = Product<Set>::multiply_add(series * rest, square, -0.5F * square);
  return Product<Set>::multiply_add(power, same<Set>(0.69314718F), rest + correction);
}

}  // namespace halfword
