#include "lm/lstm.h"

#include <algorithm>
#include <array>
#include <string>
#include <utility>

#include "lm/bits.h"

namespace halfword {
namespace {

constexpr std::size_t gates_per_cell = 3;

/// A float as bfloat16: its upper 16 bits, rounded.
std::uint16_t to_half(float value) {
  return static_cast<std::uint16_t>((bit_cast<std::uint32_t>(value) + 0x8000U) >> 16);
}

/// Quantise a row to bytes with a scale of its own, which uses the whole range; returns the scale.
float quantise_row(const Kernels& kernels, const float* values, std::size_t size, std::uint8_t* bytes) {
  const float step = std::max(kernels.largest(values, size), 1e-30F) / 127.0F;
  kernels.quantise(values, size, step, bytes);
  return step;
}

/// The rank of the low-rank recurrence: the number of outputs of the matrix called `name`; 0 if the file has no such
/// matrix.
std::size_t summary_size(const ModelFile& file, const std::string& name, std::size_t hidden) {
  if (file.holds(name)) return std::max<std::size_t>(file.array<float>(name).size() / hidden, 1);
  if (file.holds(name + ".int8"))
    return std::max<std::size_t>(file.array<std::int8_t>(name + ".int8").size() / hidden, 1);
  return 0;
}

/// The norms of a layer as `GateNorms` has them: each gate is multiplied by a factor, so that 2^gate is what the cell
/// needs, and 1 is added to the forget gate before.
AlignedVector<float> scaled_gates(AlignedVector<float> values, std::size_t hidden, float added_to_forget) {
  constexpr float binary = 1.44269504F;  // e^x = 2^(binary × x)
  constexpr std::array<float, gates_per_cell> factors = {-binary, -binary, 2.0F * binary};
  for (std::size_t i = 0; i < hidden; ++i) values[i] += added_to_forget;
  for (std::size_t i = 0; i < gates_per_cell * hidden; ++i) values[i] *= factors[i / hidden];
  return values;
}

}  // namespace

void Predictions::copy_row(const Predictions& other, std::size_t from, std::size_t to) {
  stride = other.stride;
  grow(logits, (to + 1) * stride);
  grow(normalisers, to + 1);
  std::copy_n(other.row(from).data(), stride, logits.data() + to * stride);
  normalisers[to] = other.normalisers[from];
}

Lstm::Lstm(const ModelFile& file, std::size_t vocabulary, Precision precision, const Kernels& kernels)
    : kernels_(kernels), precision_(precision), vocabulary_(vocabulary) {
  embedding_ = file.array<float>("network.projection_bias").size();
  hidden_ = file.array<float>("network.layer0.norm_scale").size() / gates_per_cell;
  if (embedding_ == 0 || hidden_ == 0) throw ModelFileError("the network has no width");
  padded_hidden_ = round_up(hidden_, input_group);
  load_head(file);
  load_layers(file);
  load_table(file);
  file.leave("network.");
}

/// A wide embedding makes a better network. Where the product of projection and output layer is smaller than both, it
/// is computed here once, so that a wide embedding does not make predictions slower.
void Lstm::load_head(const ModelFile& file) {
  projection_bias_ = read_vector(file, "network.projection_bias", embedding_);
  output_bias_ = read_vector(file, "network.output_bias", vocabulary_);
  if (embedding_ * (hidden_ + vocabulary_) <= hidden_ * vocabulary_) {
    head_.emplace_back(file, "network.projection", embedding_, hidden_, precision_);
    head_.emplace_back(file, "network.embedding", vocabulary_, embedding_, precision_);
    return;
  }
  const std::vector<float> projection = read_matrix(file, "network.projection", embedding_, hidden_);
  std::vector<float> transposed(projection.size() + embedding_);  // the bias is one more input
  for (std::size_t row = 0; row < embedding_; ++row) {
    for (std::size_t i = 0; i < hidden_; ++i) transposed[i * embedding_ + row] = projection[row * hidden_ + i];
    transposed[hidden_ * embedding_ + row] = projection_bias_[row];
  }
  const FloatMatrix matrix(transposed, hidden_ + 1);
  const AlignedVector<float> product = times_embedding(file, matrix);
  std::vector<float> output;
  for (std::size_t piece = 0; piece < vocabulary_; ++piece) {
    const float* row = product.data() + piece * matrix.outputs;
    output.insert(output.end(), row, row + hidden_);
    output_bias_[piece] += row[hidden_];
  }
  check_finite(output_bias_, "a product of matrices");
  head_.emplace_back(output, vocabulary_, precision_);
}

/// A matrix (outputs, embedding) times the embedding of every piece: (vocabulary, padded outputs).
AlignedVector<float> Lstm::times_embedding(const ModelFile& file, const FloatMatrix& matrix) const {
  AlignedVector<float> product(vocabulary_ * matrix.outputs);
  constexpr std::size_t chunk = 64;  // pieces at a time, so that memory never holds all wide embeddings twice
  AlignedVector<float> padded(chunk * matrix.inputs);
  for (std::size_t first = 0; first < vocabulary_; first += chunk) {
    const std::size_t count = std::min(chunk, vocabulary_ - first);
    const std::vector<float> embedding = read_rows(file, "network.embedding", vocabulary_, embedding_, first, count);
    for (std::size_t piece = 0; piece < count; ++piece) {
      std::copy_n(embedding.data() + piece * embedding_, embedding_, padded.data() + piece * matrix.inputs);
    }
    kernels_.multiply_alike(matrix, padded.data(), count, product.data() + first * matrix.outputs);
  }
  return product;
}

void Lstm::load_layers(const ModelFile& file) {
  const std::size_t gates = gates_per_cell * hidden_;
  for (std::size_t index = 0;; ++index) {
    const std::string name = "network.layer" + std::to_string(index);
    if (!file.holds(name + ".norm_scale")) break;
    std::vector<Linear> input;
    if (index > 0) input.emplace_back(file, name + ".input", gates, hidden_, precision_);
    const std::size_t summed_up = summary_size(file, name + ".summary", hidden_);
    std::vector<Linear> summary;
    if (summed_up > 0) summary.emplace_back(file, name + ".summary", summed_up, hidden_, precision_);
    const std::size_t handed_on = summed_up > 0 ? summed_up : hidden_;
    layers_.push_back({std::move(input), std::move(summary),
                       Linear(file, name + ".recurrent", gates, handed_on, precision_),
                       scaled_gates(read_vector(file, name + ".norm_scale", gates), hidden_, 0.0F),
                       scaled_gates(read_vector(file, name + ".norm_bias", gates), hidden_, 1.0F)});
  }
  std::size_t widest = 0;
  for (const Layer& layer : layers_) {
    widest = std::max(widest, layer.recurrent.outputs());
    for (const Linear& summary : layer.summary) widest = std::max(widest, summary.outputs());
  }
  zeros_.resize(widest);
}

/// Where the file has both matrices in 8 bits alone, the sums are integers: exact, and computed faster. False where it
/// has not.
bool Lstm::fill_from_integers(const ModelFile& file, std::size_t gates, std::size_t width) {
  const auto embedding = read_quantised(file, "network.embedding", vocabulary_, embedding_);
  const auto input = read_quantised(file, "network.layer0.input", gates, embedding_);
  if (!embedding || !input) return false;
  const Int8Matrix matrix(input->values, input->scales);
  constexpr std::size_t chunk = 64;  // pieces at a time
  AlignedVector<std::uint8_t> padded(chunk * matrix.inputs, 128);
  AlignedVector<std::int32_t> sums(chunk * matrix.outputs);
  half_table_.resize(vocabulary_ * width);
  for (std::size_t first = 0; first < vocabulary_; first += chunk) {
    const std::size_t count = std::min(chunk, vocabulary_ - first);
    for (std::size_t i = 0; i < count * embedding_; ++i) {
      const int value = embedding->values[first * embedding_ + i];
      padded[i / embedding_ * matrix.inputs + i % embedding_] = static_cast<std::uint8_t>(value + 128);
    }
    kernels_.multiply_int8(matrix, padded.data(), count, sums.data());
    for (std::size_t piece = 0; piece < count; ++piece) {
      const float scale = embedding->scales[first + piece];
      const std::int32_t* row = sums.data() + piece * matrix.outputs;
      std::uint16_t* target = half_table_.data() + (first + piece) * width;
      for (std::size_t gate = 0; gate < gates; ++gate) {
        target[gate] = to_half(static_cast<float>(row[gate]) * (scale * matrix.scales[gate]));
      }
    }
  }
  return true;
}

/// Computed a few gates at a time: as floats the whole table would take more memory than everything that is kept.
void Lstm::load_table(const ModelFile& file) {
  const std::size_t gates = gates_per_cell * hidden_;
  const std::size_t width = round_up(gates, output_group);
  constexpr std::size_t chunk = 32 * output_group;
  const auto fill = [&](auto& table, const auto& convert) {
    table.resize(vocabulary_ * width);
    for (std::size_t first = 0; first < gates; first += chunk) {
      const std::size_t count = std::min(chunk, gates - first);
      const FloatMatrix matrix(read_rows(file, "network.layer0.input", gates, embedding_, first, count), count);
      const AlignedVector<float> part = times_embedding(file, matrix);
      for (std::size_t piece = 0; piece < vocabulary_; ++piece) {
        const float* row = part.data() + piece * matrix.outputs;
        std::transform(row, row + matrix.outputs, table.data() + piece * width + first, convert);
      }
    }
  };
  if (precision_ == Precision::int8 && fill_from_integers(file, gates, width)) return;
  if (precision_ == Precision::int8) {
    fill(half_table_, to_half);
  } else {
    fill(table_, [](float value) { return value; });
  }
}

void Lstm::reserve(StateRows& states, std::size_t rows) const {
  grow(states.cells, rows * layers_.size() * hidden_);
  if (precision_ == Precision::int8) {
    grow(states.bytes, rows * layers_.size() * padded_hidden_);
    grow(states.steps, rows * layers_.size());
  } else {
    grow(states.hidden, rows * layers_.size() * padded_hidden_);
  }
}

/// Mark rows as new: their products have not been computed yet.
void Lstm::renew(StateRows& states, std::size_t first, std::size_t rows) const {
  const std::size_t begin = std::min(first * layers_.size(), states.multiplied.size());
  const std::size_t end = std::min((first + rows) * layers_.size(), states.multiplied.size());
  std::fill(states.multiplied.data() + begin, states.multiplied.data() + end, std::uint8_t{0});
}

void Lstm::start(StateRows& states) const {
  reserve(states, 1);
  renew(states, 0, 1);
  std::fill_n(states.cells.begin(), layers_.size() * hidden_, 0.0F);
  if (precision_ == Precision::int8) {
    std::fill_n(states.bytes.begin(), layers_.size() * padded_hidden_, std::uint8_t{128});
    std::fill_n(states.steps.begin(), layers_.size(), 1.0F);
  } else {
    std::fill_n(states.hidden.begin(), layers_.size() * padded_hidden_, 0.0F);
  }
}

void Lstm::step(StateRows& from, std::span<const Step> steps, StateRows& to, std::size_t first,
                LstmScratch& scratch) const {
  reserve(to, first + steps.size());
  for (std::size_t index = 0; index < layers_.size(); ++index) step_layer(index, from, steps, to, first, scratch);
  renew(to, first, steps.size());
}

/// Multiply the hidden values of the rows that `steps` continue, unless that was done before.
void Lstm::multiply_rows(std::size_t index, StateRows& states, std::span<const Step> steps,
                         LstmScratch& scratch) const {
  const Linear& recurrent = layers_[index].recurrent;
  std::vector<std::size_t>& rows = scratch.rows;
  rows.clear();
  for (const Step& step : steps) {
    const std::size_t place = step.row * layers_.size() + index;
    grow(states.multiplied, place + 1);
    if (std::exchange(states.multiplied[place], 1) == 0) rows.push_back(step.row);
  }
  if (rows.empty()) return;
  gather(states, index, rows.size(), [&](std::size_t i) { return rows[i]; }, scratch.inputs);
  for (const Linear& summary : layers_[index].summary) {
    project(summary, zeros_.data(), rows.size(), recurrent.inputs(), scratch);
  }
  recurrent.multiply(kernels_, scratch.inputs, rows.size(), scratch.products);
  scratch.multiplications += rows.size() * recurrent.outputs() * recurrent.inputs();
  const auto keep = [&](const auto& made, auto& kept, std::size_t size) {
    for (std::size_t i = 0; i < rows.size(); ++i) {
      const std::size_t place = (rows[i] * layers_.size() + index) * size;
      grow(kept, place + size);
      std::copy_n(made.data() + i * size, size, kept.data() + place);
    }
  };
  if (precision_ == Precision::int8) {
    keep(scratch.products.sums, states.products.sums, recurrent.outputs());
    keep(scratch.products.steps, states.products.steps, 1);
  } else {
    keep(scratch.products.floats, states.products.floats, recurrent.outputs());
  }
}

void Lstm::step_layer(std::size_t index, StateRows& from, std::span<const Step> steps, StateRows& to, std::size_t first,
                      LstmScratch& scratch) const {
  const Layer& layer = layers_[index];
  const std::size_t rows = steps.size();
  const std::size_t width = layer.recurrent.outputs();
  const bool rounded = precision_ == Precision::int8;
  const bool halved = index == 0 && rounded;
  grow(scratch.hidden, padded_hidden_);
  grow(scratch.gates, rows * width);
  grow(scratch.results, rows * width);
  for (std::size_t i = 0; halved && i < rows; ++i) prefetch(half_table_.data() + steps[i].piece * width, width);
  if (index > 0) {
    gather(to, index - 1, rows, [first](std::size_t i) { return first + i; }, scratch.inputs);
    multiply_and_add(layer.input.front(), rows, zeros_.data(), scratch.results.data(), scratch);
  }
  multiply_rows(index, from, steps, scratch);
  for (std::size_t i = 0; i < rows; ++i) {
    const std::size_t row = steps[i].row * layers_.size() + index;
    float* gates = scratch.gates.data() + i * width;
    const auto add = [&](const auto* addend) { layer.recurrent.add(kernels_, from.products, row, addend, gates); };
    if (halved) {
      add(half_table_.data() + steps[i].piece * width);
    } else {
      add(index == 0 ? table_.data() + steps[i].piece * width : scratch.results.data() + i * width);
    }
  }
  for (std::size_t i = 0; i < rows; ++i) {
    const std::size_t old_row = steps[i].row * layers_.size() + index;
    const std::size_t new_row = (first + i) * layers_.size() + index;
    float* hidden = rounded ? scratch.hidden.data() : to.hidden.data() + new_row * padded_hidden_;
    kernels_.lstm_cell(scratch.gates.data() + i * width, {layer.norm_scale.data(), layer.norm_bias.data()}, hidden_,
                       from.cells.data() + old_row * hidden_, to.cells.data() + new_row * hidden_, hidden);
    if (rounded) {
      to.steps[new_row] = quantise_row(kernels_, hidden, hidden_, to.bytes.data() + new_row * padded_hidden_);
    }
  }
}

void Lstm::predict(const StateRows& states, std::size_t first, std::size_t rows, bool normalise,
                   Predictions& predictions, LstmScratch& scratch) const {
  const Linear& output = head_.back();
  predictions.stride = output.outputs();
  grow(predictions.logits, (first + rows) * output.outputs());
  grow(predictions.normalisers, first + rows);
  gather(states, layers_.size() - 1, rows, [first](std::size_t i) { return first + i; }, scratch.inputs);
  if (head_.size() > 1) project(head_.front(), projection_bias_.data(), rows, output.inputs(), scratch);
  float* logits = predictions.logits.data() + first * output.outputs();
  multiply_and_add(output, rows, output_bias_.data(), logits, scratch);
  for (std::size_t row = first; normalise && row < first + rows; ++row) {
    predictions.normalisers[row] = kernels_.log_sum_exp(predictions.row(row).data(), vocabulary_);
  }
}

/// results[row] = addend + matrix × input row.
void Lstm::multiply_and_add(const Linear& linear, std::size_t rows, const float* addend, float* results,
                            LstmScratch& scratch) const {
  linear.multiply(kernels_, scratch.inputs, rows, scratch.products);
  scratch.multiplications += rows * linear.outputs() * linear.inputs();
  for (std::size_t row = 0; row < rows; ++row) {
    linear.add(kernels_, scratch.products, row, addend, results + row * linear.outputs());
  }
}

/// Multiply the inputs, and make the results the next inputs, each `to_width` numbers wide (padding included).
void Lstm::project(const Linear& linear, const float* bias, std::size_t rows, std::size_t to_width,
                   LstmScratch& scratch) const {
  const std::size_t from_width = linear.outputs();
  grow(scratch.projected, rows * from_width);
  multiply_and_add(linear, rows, bias, scratch.projected.data(), scratch);
  if (precision_ == Precision::int8) {
    grow(scratch.inputs.bytes, rows * to_width);
  } else {
    grow(scratch.inputs.floats, rows * to_width);
  }
  for (std::size_t row = 0; row < rows; ++row) {
    const float* projected = scratch.projected.data() + row * from_width;
    if (precision_ == Precision::int8) {
      std::uint8_t* bytes = scratch.inputs.bytes.data() + row * to_width;
      scratch.inputs.steps[row] = quantise_row(kernels_, projected, to_width, bytes);
    } else {
      std::copy_n(projected, to_width, scratch.inputs.floats.data() + row * to_width);
    }
  }
}

void Lstm::copy_row(const StateRows& from, std::size_t from_row, StateRows& to, std::size_t to_row) const {
  const std::size_t cells = layers_.size() * hidden_;
  const std::size_t hidden = layers_.size() * padded_hidden_;
  reserve(to, to_row + 1);
  renew(to, to_row, 1);
  std::copy_n(from.cells.data() + from_row * cells, cells, to.cells.data() + to_row * cells);
  if (precision_ == Precision::int8) {
    std::copy_n(from.bytes.data() + from_row * hidden, hidden, to.bytes.data() + to_row * hidden);
    std::copy_n(from.steps.data() + from_row * layers_.size(), layers_.size(),
                to.steps.data() + to_row * layers_.size());
  } else {
    std::copy_n(from.hidden.data() + from_row * hidden, hidden, to.hidden.data() + to_row * hidden);
  }
}

std::size_t Lstm::multiplications() const {
  std::size_t total = 0;
  for (const Linear& linear : head_) total += linear.outputs() * linear.inputs();
  for (const Layer& layer : layers_) {
    total += layer.recurrent.outputs() * layer.recurrent.inputs();
    for (const Linear& linear : layer.input) total += linear.outputs() * linear.inputs();
    for (const Linear& linear : layer.summary) total += linear.outputs() * linear.inputs();
  }
  return total;
}

}  // namespace halfword
