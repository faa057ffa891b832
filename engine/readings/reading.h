#pragma once

#include <string>

namespace halfword {

/// Why the typed characters may stand for a text.
enum class ReadingKind {
  as_typed,
  folded,  // the same words as they are written most, such as with their accents
};

/// A text that the typed characters may stand for, such as themselves.
struct Reading {
  std::string text;
  double log_probability = 0.0;  // log p(typed | text)
  ReadingKind kind = ReadingKind::as_typed;
};

}  // namespace halfword
