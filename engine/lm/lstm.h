#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "lm/kernels/kernels.h"
#include "lm/linear.h"
#include "lm/pieces.h"
#include "store/model_file.h"

namespace halfword {

/// The state of the network, one row per hypothesis. The hidden values are floats or bytes, depending on the precision.
struct StateRows {
  AlignedVector<float> cells;         // [row][layer][hidden]
  AlignedVector<float> hidden;        // [row][layer][hidden, padded]
  AlignedVector<std::uint8_t> bytes;  // the same quantised (value + 128), used instead for int8
  std::vector<float> steps;           // [row][layer] quantisation scales of `bytes`
  ProductRows products;  // [row][layer][gates] recurrent products, shared by all hypotheses that continue the row
  std::vector<std::uint8_t> multiplied;  // [row][layer] whether `products` is filled
};

/// One hypothesis is extended: from a row of states, by reading a piece.
struct Step {
  std::uint32_t row;
  PieceId piece;
};

/// The logits of the next piece, one row per state, and the normalisers that turn them into log-probabilities.
struct Predictions {
  AlignedVector<float> logits;     // [row][stride]
  std::vector<float> normalisers;  // log p(piece) = logit − normaliser
  std::size_t stride = 0;

  std::span<const float> row(std::size_t index) const { return {logits.data() + index * stride, stride}; }

  /// Make row `to` a copy of row `from` of `other`.
  void copy_row(const Predictions& other, std::size_t from, std::size_t to);
};

/// Buffers for intermediate results; a thread keeps one and reuses it.
struct LstmScratch {
  InputRows inputs;
  ProductRows products;
  std::vector<std::size_t> rows;
  AlignedVector<float> hidden;
  AlignedVector<float> projected;
  AlignedVector<float> results;
  AlignedVector<float> gates;
  std::size_t multiplications = 0;  // multiply-adds computed so far
};

/// A trained network. Never changes once loaded, so one instance serves every thread.
class Lstm {
 public:
  Lstm(const ModelFile& file, std::size_t vocabulary, Precision precision, const Kernels& kernels);

  /// Fill row 0 of `states` with the state before anything was read.
  void start(StateRows& states) const;

  /// Read one piece per step, each from the row of `from` that the step names; the result of step i is row `first` + i
  /// of `to`. The products of a row of `from` are kept there, because most rows are continued more than once.
  void step(StateRows& from, std::span<const Step> steps, StateRows& to, std::size_t first, LstmScratch& scratch) const;

  /// Predict the next piece after each of `rows` states from row `first` on, into the same rows of `predictions`. With
  /// `normalise` the normalisers are computed too.
  void predict(const StateRows& states, std::size_t first, std::size_t rows, bool normalise, Predictions& predictions,
               LstmScratch& scratch) const;

  /// Copy the hidden values of the last layer, row row_of(i) of `states` to row i, for i below `rows`.
  template <typename RowOf>
  void gather_last(const StateRows& states, std::size_t rows, const RowOf& row_of, InputRows& inputs) const {
    gather(states, layers_.size() - 1, rows, row_of, inputs);
  }

  std::size_t hidden() const { return hidden_; }

  /// Copy one row of states.
  void copy_row(const StateRows& from, std::size_t from_row, StateRows& to, std::size_t to_row) const;

  /// The number of multiply-adds in one step and the prediction after it.
  std::size_t multiplications() const;

  const Kernels& kernels() const { return kernels_; }

 private:
  struct Layer {
    std::vector<Linear> input;    // empty in layer 0, which uses the table instead
    std::vector<Linear> summary;  // low-rank recurrence: hidden values → fewer numbers; empty for a full matrix
    Linear recurrent;
    AlignedVector<float> norm_scale;
    AlignedVector<float> norm_bias;
  };

  void load_layers(const ModelFile& file);
  void load_head(const ModelFile& file);
  void load_table(const ModelFile& file);
  bool fill_from_integers(const ModelFile& file, std::size_t gates, std::size_t width);
  AlignedVector<float> times_embedding(const ModelFile& file, const FloatMatrix& matrix) const;
  void reserve(StateRows& states, std::size_t rows) const;
  void renew(StateRows& states, std::size_t first, std::size_t rows) const;
  template <typename RowOf>
  void gather(const StateRows& states, std::size_t layer, std::size_t rows, const RowOf& row_of,
              InputRows& inputs) const;
  void multiply_rows(std::size_t index, StateRows& states, std::span<const Step> steps, LstmScratch& scratch) const;
  void step_layer(std::size_t index, StateRows& from, std::span<const Step> steps, StateRows& to, std::size_t first,
                  LstmScratch& scratch) const;
  void multiply_and_add(const Linear& linear, std::size_t rows, const float* addend, float* results,
                        LstmScratch& scratch) const;
  void project(const Linear& linear, const float* bias, std::size_t rows, std::size_t to_width,
               LstmScratch& scratch) const;

  const Kernels& kernels_;
  Precision precision_;
  std::size_t vocabulary_;
  std::size_t embedding_;
  std::size_t hidden_;
  std::size_t padded_hidden_;
  std::vector<Layer> layers_;
  std::vector<Linear> head_;  // projection and output layer, or their product if that is smaller
  AlignedVector<float> projection_bias_;
  AlignedVector<float> output_bias_;
  // What each piece adds to the gates of layer 0, computed once. With int8 it is stored as bfloat16 (`half_table_`),
  // which halves the memory traffic: the table does not fit into the nearer caches.
  AlignedVector<float> table_;
  AlignedVector<std::uint16_t> half_table_;
  AlignedVector<float> zeros_;
};

/// Copy hidden values of one layer next to each other: row i of `inputs` is row row_of(i) of `states`.
template <typename RowOf>
void Lstm::gather(const StateRows& states, std::size_t layer, std::size_t rows, const RowOf& row_of,
                  InputRows& inputs) const {
  const auto copy = [&](const auto& source, auto& target) {
    grow(target, rows * padded_hidden_);
    for (std::size_t i = 0; i < rows; ++i) {
      const auto* place = source.data() + (row_of(i) * layers_.size() + layer) * padded_hidden_;
      std::copy_n(place, padded_hidden_, target.data() + i * padded_hidden_);
    }
  };
  if (precision_ == Precision::int8) {
    copy(states.bytes, inputs.bytes);
    grow(inputs.steps, rows);
    for (std::size_t i = 0; i < rows; ++i) inputs.steps[i] = states.steps[row_of(i) * layers_.size() + layer];
  } else {
    copy(states.hidden, inputs.floats);
  }
}

}  // namespace halfword
