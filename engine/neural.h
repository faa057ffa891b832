#pragma once

#include <string>
#include <string_view>

#include "lstm.h"
#include "opening.h"
#include "pieces.h"
#include "search.h"

namespace halfword {

/// The neural part of a model file: its pieces and its network.
class Neural {
 public:
  /// Multiply in `precision` with the kernels called `kernels`, or the fastest for an empty name.
  Neural(const ModelFile& file, Precision precision, const std::string& kernels)
      : pieces_(file), lstm_(file, pieces_.size(), precision, kernels_named(kernels)), opening_(lstm_, pieces_) {}

  SearchResult complete(std::string_view prefix, const SearchOptions& options) const {
    return search({pieces_, lstm_, opening_}, prefix, options);
  }

  const Pieces& pieces() const { return pieces_; }
  const Lstm& lstm() const { return lstm_; }

 private:
  Pieces pieces_;
  Lstm lstm_;
  Opening opening_;
};

}  // namespace halfword
