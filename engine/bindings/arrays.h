#pragma once

#include <nanobind/nanobind.h>

#include <cstdint>
#include <string>
#include <vector>

#include "store/popular.h"
#include "store/sorted_texts.h"
#include "store/word_tree.h"

namespace halfword {

/// A list of numbers, or a text, as bytes of Python.
template <typename List>
nanobind::bytes to_bytes(const List& values) {
  return nanobind::bytes(values.data(), values.size() * sizeof(values[0]));
}

/// Arrays of a model file for Python, by their names: each as the type of its numbers and their bytes.
class NamedArrays {
 public:
  template <typename T>
  void add(const std::string& name, const std::vector<T>& values) {
    result_[nanobind::str(name.c_str())] = nanobind::make_tuple(type_of(T{}), to_bytes(values));
  }

  void add(const std::string& part, const SortedTextArrays& arrays) {
    add(part + "text", arrays.text);
    add(part + "bucket_begin", arrays.bucket_begin);
  }

  void add(const std::string& part, const PopularArrays& arrays) {
    add(part, arrays.texts);
    add(part + "count", arrays.count);
    add(part + "large", arrays.large);
    add(part + "large_count", arrays.large_count);
    add(part + "block_max", arrays.block_max);
    add(part + "block_sum", arrays.block_sum);
    add(part + "range_max", arrays.range_max);
  }

  void add(const std::string& part, const WordTreeArrays& arrays) {
    add(part + "alphabet", arrays.alphabet);
    if (arrays.wide.empty()) add(part + "letter", arrays.narrow);
    if (!arrays.wide.empty()) add(part + "letter", arrays.wide);
    add(part + "total", arrays.total);
    add(part + "children", arrays.children);
    add(part + "begin", arrays.begin);
    add(part + "more", arrays.more);
    add(part + "inner", arrays.inner);
    add(part + "inner_weight", arrays.inner_weight);
  }

  /// A list of words that has `size` of them.
  void add_lexicon(const SortedTextArrays& list, std::size_t size) {
    add("lexicon.", list);
    add("lexicon.size", std::vector<std::uint32_t>{static_cast<std::uint32_t>(size)});
  }

  nanobind::dict result() const { return result_; }

 private:
  static const char* type_of(std::uint8_t) { return "U8"; }
  static const char* type_of(std::uint16_t) { return "U16"; }
  static const char* type_of(std::uint32_t) { return "U32"; }
  static const char* type_of(std::uint64_t) { return "U64"; }

  nanobind::dict result_;
};

}  // namespace halfword
