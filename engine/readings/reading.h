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
  double edits = 0.0;         // mistakes in what was typed,
  double spaces = 0.0;        // of which these are in its spaces
  double gain = 0.0;          // how much likelier it is than the text as typed: the difference of log-probabilities
  double word_gain = 0.0;     // how much more often its other words are typed than the mistyped ones, as logarithms
  double known = 0.0;         // mistyped words that are words of the log too,
  double known_gain = 0.0;    // and the gain of words for these alone
  double begun = 0.0;         // mistakes in the word that is being typed
  double after = 0.0;         // characters typed after the last mistake
  double total = 0.0;         // how often queries were typed that begin so,
  double typed_total = 0.0;   // or with the text as typed
  double letters = 0.0;       // letters of the mistyped words
  double typed_count = 0.0;   // logarithm of how often the rarest of them was typed
  double changed = 0.0;       // letters of the last of them from its first mistake on
  double endings = 0.0;       // whole words of which no more than the last letter differs
  double others = 0.0;        // logarithm of how often others type the rarest of the words in their place,
  double typed_others = 0.0;  // and the rarest mistyped one; 0 where others are not known
};

}  // namespace halfword
