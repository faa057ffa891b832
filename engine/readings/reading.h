#pragma once

#include <string>

namespace halfword {

/// A text that the typed characters may stand for, such as themselves.
struct Reading {
  std::string text;
  double log_probability = 0.0;  // log p(typed | text)
};

}  // namespace halfword
