#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "completion.h"
#include "store/model_file.h"
#include "store/sorted_texts.h"

namespace halfword {

/// Texts, each with the form in which most people typed it; only those that differ from it are listed.
class WrittenAs {
 public:
  WrittenAs(const ModelFile& file, const std::string& part);

  /// How `text` is written; empty if it is written as it is.
  std::string_view form_of(std::string_view text) const;

 private:
  SortedTexts texts_;
  std::span<const std::uint32_t> begin_;  // of each form, and the end of the last one
  std::span<const std::uint8_t> forms_;
};

/// The capitals with which completions are shown: of whole queries that were typed, and word by word of all others.
class Displays {
 public:
  explicit Displays(const ModelFile& file);

  /// Give a completion its display, where it is not the text itself.
  void dress(Completion& completion) const;

 private:
  std::optional<WrittenAs> queries_;
  std::optional<WrittenAs> words_;
};

}  // namespace halfword
