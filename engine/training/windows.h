#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <span>
#include <stdexcept>

#include "lm/pieces.h"

namespace halfword {

__extension__ typedef unsigned __int128 Wide;  // which ISO C++ does not know

/// How the pieces of a window are packed into one number, so that windows sort like their pieces. A window is what
/// begins at one piece of a query and ends after `order` pieces or with the end of the query; a short one is filled up
/// with zeros, which nobody takes for pieces, because nothing follows an end. A window may also be cut: what follows in
/// the query was too rare to be kept. After a cut comes the piece `begin`, which is nowhere but at the beginning.
struct WindowShape {
  unsigned order;
  unsigned bits;  // of a piece
  PieceId begin;
  PieceId end;
  std::size_t vocabulary;

  WindowShape(unsigned order, std::size_t vocabulary, PieceId begin, PieceId end)
      : order(order),
        bits(static_cast<unsigned>(std::bit_width(vocabulary - 1))),
        begin(begin),
        end(end),
        vocabulary(vocabulary) {
    if (order < 2 || order > 8 || vocabulary < 3 || vocabulary > 65536 || begin >= vocabulary || end >= vocabulary) {
      throw std::invalid_argument("n-grams have 2 to 8 pieces of a vocabulary of 3 to 65536");
    }
  }

  unsigned used_bits() const { return order * bits; }

  /// The window that holds `piece` and then the pieces of the window after it.
  template <typename Key>
  Key before(PieceId piece, Key after) const {
    return (static_cast<Key>(piece) << (used_bits() - bits)) | (after >> bits);
  }

  template <typename Key>
  PieceId piece(Key key, unsigned place) const {
    const auto mask = (std::uint32_t{1} << bits) - 1;
    return static_cast<std::uint32_t>(key >> (used_bits() - (place + 1) * bits)) & mask;
  }

  /// How many pieces two different windows share.
  template <typename Key>
  unsigned shared(Key left, Key right) const {
    return (used_bits() - width(left ^ right)) / bits;
  }

  /// The window of some pieces: at most `order`, the last of which may be the end.
  template <typename Key>
  Key packed(std::span<const PieceId> pieces) const {
    Key key = is_cut(pieces) ? before(begin, Key{0}) : Key{0};
    for (std::size_t place = pieces.size(); place > 0; --place) key = before(pieces[place - 1], key);
    return key;
  }

  bool is_cut(std::span<const PieceId> pieces) const { return pieces.size() < order && pieces.back() != end; }

  /// The pieces of a window whose first `known` ones are no end.
  template <typename Key>
  unsigned length(Key key, unsigned known) const {
    for (unsigned place = known; place < order; ++place) {
      if (piece(key, place) == end) return place + 1;
      if (place > 0 && piece(key, place) == begin) return place;
    }
    return order;
  }

 private:
  static unsigned width(std::uint64_t value) { return static_cast<unsigned>(std::bit_width(value)); }
  static unsigned width(Wide value) {
    const auto high = static_cast<std::uint64_t>(value >> 64);
    return high != 0 ? 64 + width(high) : width(static_cast<std::uint64_t>(value));
  }
};

/// A window and how often it was seen.
template <typename Key>
struct Window {
  Key key;
  std::uint64_t count;
};

}  // namespace halfword
