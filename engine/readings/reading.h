#pragma once

#include <string>

namespace halfword {

/// Why the typed characters may stand for a text.
enum class ReadingKind {
  as_typed,
  folded,     // the same words as they are written most, such as with their accents
  corrected,  // other words, which were mistyped
};

/// A text that the typed characters may stand for, such as themselves.
struct Reading {
  std::string text;
  double log_probability = 0.0;  // log p(typed | text)
  ReadingKind kind = ReadingKind::as_typed;
  double edits = 0.0;   // mistakes in what was typed,
  double spaces = 0.0;  // of which these are in its spaces
  double gain = 0.0;    // how much likelier it is than the text as typed: the difference of their log-probabilities
};

}  // namespace halfword
