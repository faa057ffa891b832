#pragma once

#include <cstddef>
#include <span>

#include "store/model_file.h"

namespace halfword {

/// What typing mistakes cost: −log p(mistake), in nats (`training/channel.py` learns it from what people corrected).
///
/// Letters are told apart by class: each of a to z, digits, other ASCII signs, letters of other alphabets, and the
/// beginning of a word. `channel.cost` has four tables of class × class, in this order, and then three numbers.
class Channel {
 public:
  /// The classes of digits, and of ASCII characters that are neither letter nor digit.
  static constexpr std::size_t digits = 26;
  static constexpr std::size_t signs = 27;

  /// The class that stands before the first letter.
  static constexpr std::size_t beginning = 29;
  static constexpr std::size_t classes = 30;

  explicit Channel(const ModelFile& file);

  static std::size_t class_of(char32_t letter);

  /// Another letter was typed than meant.
  double substitute(std::size_t meant, std::size_t typed) const { return at(0, meant, typed); }

  /// A letter was typed that was not meant, after the letter meant before it.
  double insert(std::size_t before, std::size_t typed) const { return at(1, before, typed); }

  /// A letter was left out, after the letter meant before it.
  double leave_out(std::size_t before, std::size_t meant) const { return at(2, before, meant); }

  /// Two letters were typed in the wrong order; given are those that were meant.
  double swap(std::size_t first, std::size_t second) const { return at(3, first, second); }

  /// A space between two words was left out, or one was typed inside a word.
  double join() const { return cost_[4 * classes * classes]; }
  double split() const { return cost_[4 * classes * classes + 1]; }

  /// What it costs beyond that where the first letter of a word is replaced or swapped: nearly always it is right.
  double first_letter() const { return cost_[4 * classes * classes + 2]; }

 private:
  double at(std::size_t table, std::size_t row, std::size_t column) const {
    return cost_[(table * classes + row) * classes + column];
  }

  std::span<const float> cost_;
};

}  // namespace halfword
