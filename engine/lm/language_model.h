#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "lm/kernels/kernels.h"
#include "lm/lstm.h"
#include "lm/ngram.h"
#include "lm/pieces.h"
#include "store/model_file.h"

namespace halfword {

/// What a language model remembers, a row for each hypothesis: the network's state and the memory's.
struct ModelStates {
  StateRows network;
  std::vector<NgramState> memory;
};

/// Room for intermediate results; a thread keeps one and uses it again.
struct ModelScratch {
  LstmScratch network;
  AlignedVector<float> probabilities;
};

/// One token as both parts see it: what the weights of the mixture are fitted to.
struct TokenView {
  std::uint32_t bucket;  // how much the memory knows of the context
  float network;         // the probabilities they give it
  float memory;
};

/// What comes next: the network's opinion, the memory's, or a mixture of both in which the network weighs the more the
/// less the memory knows of the context. Never changes once loaded, so one instance serves every thread.
class LanguageModel {
 public:
  /// Contexts are parted by their length and by how sure the memory is.
  static constexpr std::size_t buckets = (NgramState::longest + 1) * 4;

  /// Multiply in `precision`; without one the network is left out.
  LanguageModel(const ModelFile& file, const Pieces& pieces, std::optional<Precision> precision,
                const Kernels& kernels);

  /// Fill row 0 of `states` with what is known before anything was read.
  void start(ModelStates& states) const;

  /// Read a piece from each of the rows named by `steps`; row `first` + i of `to` is where step i leads.
  void step(ModelStates& from, std::span<const Step> steps, ModelStates& to, std::size_t first,
            ModelScratch& scratch) const;

  /// Predict what comes next after each of `rows` states from row `first` on, into the same rows of `predictions`.
  void predict(const ModelStates& states, std::size_t first, std::size_t rows, Predictions& predictions,
               ModelScratch& scratch) const;

  /// Copy one row of states.
  void copy_row(const ModelStates& from, std::size_t from_row, ModelStates& to, std::size_t to_row) const;

  /// About how many nats it costs to end a query that has come to this piece; 0 where the file does not say.
  double ending_cost(PieceId piece) const { return ending_costs_[piece]; }

  /// How both parts see every piece of a query and its end; needs both.
  std::vector<TokenView> view(std::span<const PieceId> pieces) const;

  /// Multiply-adds in one step and the prediction after it.
  std::size_t multiplications() const { return network_ ? network_->multiplications() : 0; }

  const Kernels& kernels() const { return kernels_; }

 private:
  void mix_in_memory(const NgramState& state, std::size_t row, Predictions& predictions, ModelScratch& scratch) const;

  const Kernels& kernels_;
  std::size_t vocabulary_;
  PieceId begin_;
  PieceId end_;
  std::optional<Lstm> network_;
  std::optional<Ngram> memory_;
  std::vector<float> network_weights_;  // by bucket
  std::vector<float> ending_costs_;     // by piece
};

}  // namespace halfword
