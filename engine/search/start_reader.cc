#include "search/start_reader.h"

#include <algorithm>
#include <utility>

#include "search/tuning.h"

namespace halfword {

bool StartReader::read(std::vector<Start>& starts, ModelStates& states, Predictions& predictions) {
  make_tree(starts);
  buffers_.waits.clear();
  std::size_t above = 0;    // where the level above begins
  std::size_t waiting = 0;  // the first node whose prediction has still to be made
  std::size_t rows = 0;
  const auto keep_starts = [&](std::size_t first, std::size_t last) {
    for (std::size_t index = first; index < last; ++index) {
      const Node& node = nodes_[index];
      for (const std::size_t start : node.starts) {
        starts[start].score += node.score;
        starts[start].key = node.key;
        predictions.copy_row(buffers_.predictions, node.row, start);
        model_.copy_row(buffers_.states, node.row, states, start);
      }
    }
  };
  for (std::size_t first = 0; first < nodes_.size();) {
    if (deadline_.passed()) return false;
    std::size_t last = first;
    while (last < nodes_.size() && nodes_[last].depth == nodes_[first].depth) ++last;
    if (rows > 0 && rows + last - first > tuning.start_window) {
      predict(waiting, first);
      keep_starts(waiting, first);
      move_level(above, first);
      waiting = first;
      rows = first - above;
    }
    read_level(first, last, rows);
    rows += last - first;
    above = first;
    first = last;
  }
  predict(waiting, nodes_.size());
  keep_starts(waiting, nodes_.size());
  return true;
}

void StartReader::make_tree(const std::vector<Start>& starts) {
  nodes_.emplace_back().piece = begin_;
  for (std::size_t start = 0; start < starts.size(); ++start) nodes_.front().starts.push_back(start);
  for (std::size_t index = 0; index < nodes_.size(); ++index) add_children(index, starts);
}

/// Part the starts that go through a node by their next piece; it keeps those that end there.
void StartReader::add_children(std::size_t parent, const std::vector<Start>& starts) {
  const std::size_t first = nodes_.size();
  const std::size_t depth = nodes_[parent].depth;
  for (const std::size_t start : std::exchange(nodes_[parent].starts, {})) {
    if (starts[start].pieces.size() == depth) {
      nodes_[parent].starts.push_back(start);
      continue;
    }
    const PieceId piece = starts[start].pieces[depth];
    std::size_t child = first;
    while (child < nodes_.size() && nodes_[child].piece != piece) ++child;
    if (child == nodes_.size()) {
      nodes_.push_back({depth + 1, parent, piece, nodes_[parent].key.then(piece), {}, 0, false, 0.0});
    }
    nodes_[child].starts.push_back(start);
  }
}

/// Bring the states of one level's nodes into the rows from `row` on, and the predictions of those that are known. The
/// others come first, so that they lie beside those of the level above.
void StartReader::read_level(std::size_t first, std::size_t last, std::size_t row) {
  std::vector<Node*> opening;
  std::size_t known = row + last - first;
  buffers_.steps.clear();
  for (std::size_t index = first; index < last; ++index) {
    Node& node = nodes_[index];
    if (find_known(node, known - 1)) {
      node.row = static_cast<std::uint32_t>(--known);
    } else if (node.depth == 1 && opening_.has_row(node.piece)) {
      opening.push_back(&node);
    } else {
      node.row = static_cast<std::uint32_t>(row + buffers_.steps.size());
      node.is_new = true;
      buffers_.steps.push_back({nodes_[node.parent].row, node.piece});
    }
  }
  if (!buffers_.steps.empty()) model_.step(buffers_.states, buffers_.steps, buffers_.states, row, scratch_);
  read_ += buffers_.steps.size();
  for (std::size_t i = 0; i < opening.size(); ++i) {
    opening[i]->row = static_cast<std::uint32_t>(row + buffers_.steps.size() + i);
    opening[i]->is_new = true;
    model_.copy_row(opening_.first_states(), opening_.row_of(opening[i]->piece), buffers_.states, opening[i]->row);
  }
  grow(buffers_.waits, row + last - first);
  std::fill(buffers_.waits.begin() + static_cast<std::ptrdiff_t>(row),
            buffers_.waits.begin() + static_cast<std::ptrdiff_t>(known), std::uint8_t{1});
}

/// Copy state and prediction of a node into a row, if both are known: from how all queries begin, or from the cache.
bool StartReader::find_known(const Node& node, std::size_t row) {
  if (node.depth == 0) {
    model_.copy_row(opening_.begin_state(), 0, buffers_.states, row);
    buffers_.predictions.copy_row(opening_.begin_prediction(), 0, row);
    return true;
  }
  if (node.depth == 1 && opening_.has_row(node.piece) && opening_.first_predictions().stride > 0) {
    const std::size_t known = opening_.row_of(node.piece);
    model_.copy_row(opening_.first_states(), known, buffers_.states, row);
    buffers_.predictions.copy_row(opening_.first_predictions(), known, row);
    return true;
  }
  return cache_.find(model_, node.key, buffers_.states, buffers_.predictions, row);
}

/// Move the states of one level to the first rows.
void StartReader::move_level(std::size_t first, std::size_t last) {
  for (std::size_t index = first; index < last; ++index) {
    model_.copy_row(buffers_.states, nodes_[index].row, buffers_.next_states, index - first);
    nodes_[index].row = static_cast<std::uint32_t>(index - first);
  }
  std::swap(buffers_.states, buffers_.next_states);
}

/// Predict what follows some nodes, and score their children by it.
void StartReader::predict(std::size_t first, std::size_t last) {
  predict_rows();
  for (std::size_t index = first; index < last; ++index) {
    const Node& node = nodes_[index];
    if (node.is_new) cache_.insert(model_, node.key, buffers_.states, buffers_.predictions, node.row);
  }
  copy_earlier(first, last);
  for (; scored_ < nodes_.size() && nodes_[scored_].parent < last; ++scored_) {
    const Node& parent = nodes_[nodes_[scored_].parent];
    const double base = parent.score - buffers_.predictions.normalisers[parent.row];
    nodes_[scored_].score = base + buffers_.predictions.row(parent.row)[nodes_[scored_].piece];
  }
}

/// Mix what can be copied from the session into the predictions of some nodes. The cache keeps them without it.
void StartReader::copy_earlier(std::size_t first, std::size_t last) {
  if (earlier_ == nullptr) return;
  buffers_.copying.clear();
  for (std::size_t index = first; index < last; ++index) buffers_.copying.push_back(nodes_[index].row);
  model_.copy_earlier(*earlier_, buffers_.states, buffers_.copying, buffers_.predictions, scratch_);
}

/// Predict what follows each row that waits for it, as many together as lie side by side.
void StartReader::predict_rows() {
  std::vector<std::uint8_t>& waits = buffers_.waits;
  for (auto first = waits.begin();;) {
    first = std::find(first, waits.end(), std::uint8_t{1});
    if (first == waits.end()) return;
    const auto last = std::find(first, waits.end(), std::uint8_t{0});
    model_.predict(buffers_.states, static_cast<std::size_t>(first - waits.begin()),
                   static_cast<std::size_t>(last - first), buffers_.predictions, scratch_);
    std::fill(first, last, std::uint8_t{0});
    first = last;
  }
}

}  // namespace halfword
