#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "lm/kernels/kernels.h"
#include "lm/lstm.h"
#include "lm/ngram.h"
#include "lm/pieces.h"
#include "lm/pointer.h"
#include "store/model_file.h"

namespace halfword {

/// The n-gram memory of a file; null if it has none.
std::shared_ptr<const Ngram> load_memory(const ModelFile& file);

/// The state of a language model, one row per hypothesis: the network's state and the memory's.
struct ModelStates {
  StateRows network;
  std::vector<NgramState> memory;
};

/// Buffers for intermediate results; a thread keeps one and reuses it.
struct ModelScratch {
  LstmScratch network;
  AlignedVector<float> probabilities;
  PointerScratch pointer;
};

/// What a thread keeps from one context to the next.
struct EarlierBuffers {
  std::size_t width;  // queries that are read side by side
  StateRows nothing;
  StateRows states;
  ModelScratch scratch;
  std::vector<Step> steps;
  std::vector<float> keys;
};

/// The probabilities that both parts give to one token; the weights of the mixture are fitted to these.
struct TokenView {
  std::uint32_t bucket;  // the class of the memory's context, which selects the weight
  float network;         // its probability
  float memory;
};

/// The probability of the next piece: the network's, the memory's, or a mixture of both. The weight of the network in
/// the mixture depends on how much the memory knows about the context. Never changes once loaded, so one instance
/// serves every thread.
class LanguageModel {
 public:
  /// Contexts are classified by their length and by the memory's backoff (four classes).
  static constexpr std::size_t buckets = (NgramState::longest + 1) * 4;

  /// Multiply in `precision`; without a precision the network is left out. `memory` is that of the file, if it has one.
  LanguageModel(const ModelFile& file, const Pieces& pieces, std::optional<Precision> precision, const Kernels& kernels,
                std::shared_ptr<const Ngram> memory);

  /// Fill row 0 of `states` with the state before anything was read.
  void start(ModelStates& states) const;

  /// Read one piece per step, each from the row of `from` that the step names; the result of step i is row `first` + i
  /// of `to`.
  void step(ModelStates& from, std::span<const Step> steps, ModelStates& to, std::size_t first,
            ModelScratch& scratch) const;

  /// Predict the next piece after each of `rows` states from row `first` on, into the same rows of `predictions`.
  void predict(const ModelStates& states, std::size_t first, std::size_t rows, Predictions& predictions,
               ModelScratch& scratch) const;

  /// The memory; null where there is none.
  const std::shared_ptr<const Ngram>& memory() const { return memory_; }

  /// The memory, where the model is nothing else; null where there is a network.
  const Ngram* memory_alone() const { return network_ ? nullptr : memory_.get(); }

  /// Whether pieces can be copied from earlier queries.
  bool copies() const { return pointer_.has_value(); }

  /// Read earlier queries of a session, each given as its pieces, so that their pieces can be copied.
  std::vector<EarlierQuery> read_earlier(std::span<const std::vector<PieceId>> queries) const;

  /// Put earlier queries together, the last one first.
  Earlier join(std::span<const std::shared_ptr<const EarlierQuery>> queries) const { return pointer_->join(queries); }

  /// Mix what can be copied into the predictions of some rows.
  void copy_earlier(const Earlier& earlier, const ModelStates& states, std::span<const std::uint32_t> rows,
                    Predictions& predictions, ModelScratch& scratch) const;

  /// Copy one row of states.
  void copy_row(const ModelStates& from, std::size_t from_row, ModelStates& to, std::size_t to_row) const;

  /// The estimated cost, in nats, of ending a query after this piece; 0 if the file has no estimate.
  double ending_cost(PieceId piece) const { return ending_costs_[piece]; }

  /// The views of every piece of a query and of its end; needs a network and a memory.
  std::vector<TokenView> view(std::span<const PieceId> pieces) const;

  /// The number of multiply-adds in one step and the prediction after it.
  std::size_t multiplications() const { return network_ ? network_->multiplications() : 0; }

  const Kernels& kernels() const { return kernels_; }

 private:
  void mix_in_memory(const NgramState& state, std::size_t row, Predictions& predictions, ModelScratch& scratch) const;

  void read_step(std::span<EarlierQuery* const> queries, std::size_t step, EarlierBuffers& buffers) const;

  /// The class of a context.
  std::size_t bucket_of(const NgramState& state) const;

  const Kernels& kernels_;
  std::size_t vocabulary_;
  PieceId begin_;
  PieceId end_;
  std::optional<Lstm> network_;
  std::shared_ptr<const Ngram> memory_;
  std::optional<Pointer> pointer_;
  std::array<float, 3> bounds_{0.25F, 0.5F, 0.75F};  // between the four classes of backoff; even if the file has none
  std::vector<float> network_weights_;               // by bucket
  std::vector<float> ending_costs_;                  // by piece
};

}  // namespace halfword
