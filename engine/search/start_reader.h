#pragma once

#include <cstdint>
#include <vector>

#include "lm/language_model.h"
#include "lm/state_cache.h"
#include "search/search.h"

namespace halfword {

/// Room to read starts in; a thread keeps one and uses it again.
struct StartBuffers {
  ModelStates states;
  ModelStates next_states;
  Predictions predictions;
  std::vector<Step> steps;
  std::vector<std::uint32_t> copying;
  std::vector<std::uint8_t> waits;  // by row: whether it has a state but no prediction yet
};

/// Reads the pieces of all starts of a search. Starts that begin alike share what they have in common; and as the
/// pieces of a prefix are given, not predicted, what could follow each of them is found for many at once.
class StartReader {
 public:
  StartReader(const SearchModel& model, const Deadline& deadline, StartBuffers& buffers, ModelScratch& scratch)
      : model_(model.model),
        deadline_(deadline),
        begin_(model.pieces.begin()),
        opening_(model.opening),
        cache_(model.cache),
        earlier_(model.earlier),
        buffers_(buffers),
        scratch_(scratch) {}

  /// Add the score of its pieces to every start, give it its key, and bring its state and prediction into the row of
  /// its number. False if the deadline passed before all were read.
  bool read(std::vector<Start>& starts, ModelStates& states, Predictions& predictions);

  /// How many pieces had to be read.
  std::size_t pieces_read() const { return read_; }

 private:
  /// A piece in the tree of all starts.
  struct Node {
    std::size_t depth = 0;
    std::size_t parent = 0;
    PieceId piece = 0;
    SequenceKey key;
    std::vector<std::size_t> starts;  // that end here
    std::uint32_t row = 0;
    bool is_new = false;  // to the cache
    double score = 0.0;
  };

  void make_tree(const std::vector<Start>& starts);
  void add_children(std::size_t parent, const std::vector<Start>& starts);
  void read_level(std::size_t first, std::size_t last, std::size_t row);
  bool find_known(const Node& node, std::size_t row);
  void move_level(std::size_t first, std::size_t last);
  void predict(std::size_t first, std::size_t last);
  void predict_rows();
  void copy_earlier(std::size_t first, std::size_t last);

  const LanguageModel& model_;
  const Deadline& deadline_;
  PieceId begin_;
  const Opening& opening_;
  StateCache& cache_;
  const Earlier* earlier_;
  StartBuffers& buffers_;
  ModelScratch& scratch_;
  std::vector<Node> nodes_;  // level by level
  std::size_t scored_ = 1;   // so many nodes have their score
  std::size_t read_ = 0;
};

}  // namespace halfword
