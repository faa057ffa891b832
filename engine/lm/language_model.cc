#include "lm/language_model.h"

#include <algorithm>
#include <cmath>
#include <stdexcept>
#include <utility>

#include "sort.h"

namespace halfword {
namespace {

constexpr float even = 0.5F;  // the network's weight where none was fitted

bool is_share(float value) { return value >= 0.0F && value <= 1.0F; }

}  // namespace

std::shared_ptr<const Ngram> load_memory(const ModelFile& file) {
  if (!file.holds("ngram.unigram")) return nullptr;
  auto memory = std::make_shared<Ngram>(file);
  memory->list_likely();
  return memory;
}

LanguageModel::LanguageModel(const ModelFile& file, const Pieces& pieces, std::optional<Precision> precision,
                             const Kernels& kernels, std::shared_ptr<const Ngram> memory)
    : kernels_(kernels),
      vocabulary_(pieces.size()),
      begin_(pieces.begin()),
      end_(pieces.end()),
      memory_(std::move(memory)),
      network_weights_(buckets, even),
      ending_costs_(pieces.size()) {
  if (precision && file.holds("network.projection_bias")) network_.emplace(file, vocabulary_, *precision, kernels);
  if (network_ && file.holds("pointer.key")) pointer_.emplace(file, network_->hidden(), buckets, *precision);
  if (!network_ && !memory_) throw ModelFileError("it has neither a network nor a memory");
  if (memory_ && memory_->vocabulary() != vocabulary_) throw ModelFileError("the memory is of other pieces");
  if (network_ && file.holds("mixture.network_weight")) {
    const std::span<const float> fitted = file.array<float>("mixture.network_weight");
    if (fitted.size() != buckets) throw ModelFileError("the weights of the mixture do not fit");
    if (!std::all_of(fitted.begin(), fitted.end(), is_share)) {
      throw ModelFileError("the weights of the mixture are no shares");
    }
    std::copy(fitted.begin(), fitted.end(), network_weights_.begin());
  }
  if (file.holds("mixture.bounds")) {
    const std::span<const float> bounds = file.array<float>("mixture.bounds");
    const bool sound = bounds.size() == bounds_.size() && std::all_of(bounds.begin(), bounds.end(), is_share);
    if (!sound) throw ModelFileError("the bounds of the mixture are no shares");
    std::copy(bounds.begin(), bounds.end(), bounds_.begin());
  }
  if (file.holds("ending.cost")) {
    const std::span<const float> costs = file.array<float>("ending.cost");
    const auto sound = [](float cost) { return cost >= 0.0F && cost <= 100.0F; };
    if (costs.size() != vocabulary_ || !std::all_of(costs.begin(), costs.end(), sound))
      throw ModelFileError("the costs of ending make no sense");
    std::copy(costs.begin(), costs.end(), ending_costs_.begin());
  }
}

std::size_t LanguageModel::bucket_of(const NgramState& state) const {
  const float backoff = state.backoff();
  const auto reached = std::count_if(bounds_.begin(), bounds_.end(), [&](float bound) { return backoff >= bound; });
  return state.matched_order() * 4 + static_cast<std::size_t>(reached);
}

void LanguageModel::start(ModelStates& states) const {
  if (network_) network_->start(states.network);
  grow(states.memory, 1);
}

void LanguageModel::step(ModelStates& from, std::span<const Step> steps, ModelStates& to, std::size_t first,
                         ModelScratch& scratch) const {
  if (network_) network_->step(from.network, steps, to.network, first, scratch.network);
  if (!memory_) return;
  grow(to.memory, first + steps.size());
  for (std::size_t i = 0; i < steps.size(); ++i) {
    const bool begins = steps[i].piece == begin_;
    to.memory[first + i] = begins ? memory_->start() : memory_->advance(from.memory[steps[i].row], steps[i].piece);
  }
}

void LanguageModel::predict(const ModelStates& states, std::size_t first, std::size_t rows, Predictions& predictions,
                            ModelScratch& scratch) const {
  if (network_) {
    network_->predict(states.network, first, rows, !memory_, predictions, scratch.network);
  } else {
    predictions.stride = round_up(vocabulary_, output_group);
    grow(predictions.logits, (first + rows) * predictions.stride);
    grow(predictions.normalisers, first + rows);
  }
  if (!memory_) return;
  for (std::size_t row = first; row < first + rows; ++row) mix_in_memory(states.memory[row], row, predictions, scratch);
}

/// Turn a row of the network's logits into the log-probabilities of the mixture.
void LanguageModel::mix_in_memory(const NgramState& state, std::size_t row, Predictions& predictions,
                                  ModelScratch& scratch) const {
  grow(scratch.probabilities, vocabulary_);
  memory_->predict(state, std::span(scratch.probabilities).first(vocabulary_));
  float* logits = predictions.logits.data() + row * predictions.stride;
  if (network_) {
    kernels_.mix(network_weights_[bucket_of(state)], scratch.probabilities.data(), vocabulary_, logits);
  } else {
    kernels_.logarithms(scratch.probabilities.data(), vocabulary_, logits);
  }
  predictions.normalisers[row] = 0.0F;
}

std::vector<EarlierQuery> LanguageModel::read_earlier(std::span<const std::vector<PieceId>> queries) const {
  const std::size_t width = queries.size();
  std::vector<EarlierQuery> earlier(width);
  std::vector<EarlierQuery*> by_length;  // the longest first, so that those which go on stand side by side
  for (std::size_t i = 0; i < width; ++i) {
    earlier[i].pieces = queries[i];
    earlier[i].pieces.push_back(end_);
    earlier[i].pieces.resize(std::min(earlier[i].pieces.size(), EarlierQuery::most_pieces));
    by_length.push_back(&earlier[i]);
  }
  sort_list(by_length, [](const EarlierQuery* left, const EarlierQuery* right) {
    const std::size_t size = left->pieces.size();
    return size != right->pieces.size() ? size > right->pieces.size() : left < right;
  });
  thread_local EarlierBuffers buffers;
  buffers.width = width;
  network_->start(buffers.nothing);
  std::size_t reading = width;
  for (std::size_t step = 0;; ++step) {
    while (reading > 0 && by_length[reading - 1]->pieces.size() == step) --reading;
    if (reading == 0) return earlier;
    read_step(std::span(by_length).first(reading), step, buffers);
  }
}

/// Find the states before piece `step` of the queries, and make them keys. They lie in rows that change places with
/// those of the step before.
void LanguageModel::read_step(std::span<EarlierQuery* const> queries, std::size_t step, EarlierBuffers& buffers) const {
  const std::size_t first = step % 2 == 0 ? 0 : buffers.width;
  const std::size_t before = buffers.width - first;
  buffers.steps.clear();
  for (std::size_t i = 0; i < queries.size(); ++i) {
    const auto row = static_cast<std::uint32_t>(before + i);
    buffers.steps.push_back(step == 0 ? Step{0, begin_} : Step{row, queries[i]->pieces[step - 1]});
  }
  StateRows& states = buffers.states;
  network_->step(step == 0 ? buffers.nothing : states, buffers.steps, states, first, buffers.scratch.network);
  PointerScratch& pointer = buffers.scratch.pointer;
  network_->gather_last(states, queries.size(), [&](std::size_t i) { return first + i; }, pointer.states);
  grow(buffers.keys, queries.size() * pointer_->size());
  pointer_->keys(kernels_, queries.size(), pointer, buffers.keys.data());
  for (std::size_t i = 0; i < queries.size(); ++i) {
    const float* key = buffers.keys.data() + i * pointer_->size();
    queries[i]->keys.insert(queries[i]->keys.end(), key, key + pointer_->size());
  }
}

void LanguageModel::copy_earlier(const Earlier& earlier, const ModelStates& states, std::span<const std::uint32_t> rows,
                                 Predictions& predictions, ModelScratch& scratch) const {
  if (rows.empty()) return;
  PointerScratch& pointer = scratch.pointer;
  grow(pointer.copied, vocabulary_);
  network_->gather_last(states.network, rows.size(), [&](std::size_t i) { return rows[i]; }, pointer.states);
  pointer_->ask(kernels_, rows.size(), pointer);
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const float bias = memory_ ? pointer_->bias_of(bucket_of(states.memory[rows[i]])) : 0.0F;
    float* logits = predictions.logits.data() + rows[i] * predictions.stride;
    float& normaliser = predictions.normalisers[rows[i]];
    normaliser = pointer_->copy(kernels_, earlier, i, bias, normaliser, logits, pointer);
  }
}

void LanguageModel::copy_row(const ModelStates& from, std::size_t from_row, ModelStates& to, std::size_t to_row) const {
  if (network_) network_->copy_row(from.network, from_row, to.network, to_row);
  if (memory_) {
    grow(to.memory, to_row + 1);
    to.memory[to_row] = from.memory[from_row];
  }
}

std::vector<TokenView> LanguageModel::view(std::span<const PieceId> pieces) const {
  if (!network_ || !memory_) throw std::invalid_argument("only a model with a network and a memory has both views");
  ModelStates from;
  ModelStates to;
  Predictions predictions;
  ModelScratch scratch;
  std::vector<TokenView> views;
  start(from);
  PieceId read = begin_;
  for (std::size_t i = 0; i <= pieces.size(); ++i) {
    const Step next{0, read};
    step(from, {&next, 1}, to, 0, scratch);
    network_->predict(to.network, 0, 1, true, predictions, scratch.network);
    read = i < pieces.size() ? pieces[i] : end_;
    views.push_back({static_cast<std::uint32_t>(bucket_of(to.memory[0])),
                     std::exp(predictions.row(0)[read] - predictions.normalisers[0]),
                     memory_->probability(to.memory[0], read)});
    std::swap(from, to);
  }
  return views;
}

}  // namespace halfword
