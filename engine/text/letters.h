#pragma once

#include <string>
#include <string_view>

namespace halfword {

/// Whether a byte is a letter or a digit, or not ASCII.
bool is_letter(char byte);

/// A text without `http://` and `www.` at its beginning, whole or in part.
std::string_view without_lead(std::string_view text);

/// The domain at the end of a text, like `.com` or `.co.uk`, or nothing.
std::string_view domain_of(std::string_view text);

/// Reads the letters of a text one by one, those left out that only repeat the one before; `training/spellings.py`
/// explains them.
class LetterReader {
 public:
  explicit LetterReader(std::string_view text) : rest_(text) {}

  /// Whether there was one more; it is `letter` then.
  bool next() {
    for (; !rest_.empty(); rest_.remove_prefix(1)) {
      const char byte = rest_.front();
      if (!is_letter(byte) || (byte == letter && static_cast<unsigned char>(byte) < 128)) continue;
      letter = byte;
      rest_.remove_prefix(1);
      return true;
    }
    return false;
  }

  /// What comes after the letter.
  std::string_view rest() const { return rest_; }

  char letter = 0;

 private:
  std::string_view rest_;
};

}  // namespace halfword
