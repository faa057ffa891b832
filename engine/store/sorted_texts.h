#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "store/model_file.h"

namespace halfword {

/// Sorted texts as flat arrays, in the layout of the model file.
///
/// The texts are sorted by their UTF-8 bytes, which is the order of code points, and divided into buckets of 16. A
/// bucket is front-coded: it holds its first text whole and, for each further text, only what differs from the one
/// before:
///
///     first:   length, bytes
///     further: shared (one byte), length, bytes      (lengths are base-128 integers, low digits first)
///
/// `shared` is the number of bytes that a text has in common with the one before it.
struct SortedTextArrays {
  std::vector<std::uint8_t> text;
  std::vector<std::uint32_t> bucket_begin;  // where each bucket begins in `text`, and where the last one ends
};

/// Build the arrays of texts that are sorted and all different.
SortedTextArrays build_sorted_texts(std::span<const std::string_view> texts);

/// Looks texts up in arrays that are read in place. Every read is bounded: damaged arrays give wrong answers, never a
/// read outside of them.
class SortedTexts {
 public:
  /// Where a text is, or the next one after it.
  struct Place {
    std::size_t position;
    bool exact;
  };

  static constexpr std::size_t bucket_size = 16;

  /// The `size` texts of a part of a model file.
  SortedTexts(const ModelFile& file, const std::string& part, std::size_t size);

  Place lower_bound(std::string_view text) const { return lower_bound(text, 0, size_); }

  /// The first position in [begin, end) whose text is not before `text`; all texts before `begin` must be.
  Place lower_bound(std::string_view text, std::size_t begin, std::size_t end) const;

  /// The text at `position`, which must be less than size().
  std::string at(std::size_t position) const;

  /// Put it into a text that is used again and again.
  void read(std::size_t position, std::string& text) const;

  /// Have the processor fetch it, for it will be read soon.
  void expect(std::size_t position) const;

  std::size_t size() const { return size_; }

 private:
  std::size_t last_bucket_not_after(std::string_view text, std::size_t low, std::size_t high) const;
  std::span<const std::uint8_t> bucket(std::size_t index) const;

  std::span<const std::uint8_t> text_;
  std::span<const std::uint32_t> bucket_begin_;
  std::size_t size_;
};

}  // namespace halfword
