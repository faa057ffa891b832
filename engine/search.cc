#include "search.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <string>

#include "escape.h"
#include "finished.h"

namespace halfword {
namespace {

using Clock = std::chrono::steady_clock;
constexpr double lowest = -std::numeric_limits<double>::infinity();
constexpr std::uint32_t no_link = UINT32_MAX;
constexpr double negligible = 14.0;  // nats: less than a millionth

/// A piece chosen by the search, and the link it follows.
struct Link {
  std::uint32_t previous;
  PieceId piece;
};

/// A way to go on that is still open.
struct Hypothesis {
  double score;
  std::uint32_t row;    // of its state and prediction
  std::uint32_t start;  // where it set out
  std::uint32_t link;   // its last piece
  SequenceKey key;      // of all its pieces
  bool after_space;     // its text ends in a space
};

/// A hypothesis and its next piece, competing for a place in the beam.
struct Child {
  double score;
  std::uint32_t parent;  // index of the hypothesis
  PieceId piece;

  /// Better first; of equals the one found first.
  bool operator<(const Child& other) const {
    if (score != other.score) return score > other.score;
    return parent != other.parent ? parent < other.parent : piece < other.piece;
  }
};

/// What a thread keeps from one search to the next, so that nothing is allocated in the loop.
struct Buffers {
  ModelStates start_states;
  ModelStates states;
  ModelStates next_states;
  Predictions start_predictions;
  Predictions predictions;
  ModelScratch scratch;
  std::vector<Step> steps;
  std::vector<Step> chunk;
  std::vector<std::uint32_t> fresh;
  std::vector<Link> links;
  std::vector<Hypothesis> beam;
  std::vector<Hypothesis> parents;
  std::vector<Child> children;
  std::vector<std::uint32_t> places;
};

/// The search for one prefix.
class Search {
 public:
  Search(const SearchModel& model, std::string_view prefix, const SearchOptions& options, Buffers& buffers)
      : pieces_(model.pieces),
        model_(model.model),
        opening_(model.opening),
        cache_(model.cache),
        options_(options),
        buffers_(buffers),
        escaped_(escape(prefix)),
        begun_(Clock::now()),
        starts_(find_starts(model.pieces, escaped_, options)),
        finished_(options.count) {}

  SearchResult run() {
    read_starts();
    seed();
    expand();
    while (!buffers_.children.empty() && result_.steps < options_.max_pieces && in_time()) {
      advance();
      expand();
    }
    const std::size_t count = options_.count + options_.surplus;
    result_.completions = finished_.rank(count, options_.merge, options_.conditional ? mass_ : 0.0, floor_);
    result_.mass = mass_;
    return std::move(result_);
  }

 private:
  /// A piece in the tree of all starts.
  struct Node {
    std::uint32_t row = 0;     // among the states of its level
    std::uint32_t parent = 0;  // row of the node before it
    PieceId piece = 0;
    double score = 0.0;
    SequenceKey key;
    std::vector<std::uint32_t> starts;  // that go through here
  };

  void read_starts();
  void add_children(const Node& node, std::size_t depth, std::vector<Node>& next) const;
  void read_level(std::vector<Node>& level, std::size_t depth);
  void read_steps(std::size_t depth);
  void keep_start(std::size_t start, std::size_t row);
  double mass_of(const Start& start, std::size_t row) const;
  void seed();
  void harvest(const Hypothesis& hypothesis);
  void expand();
  void expand_all(std::uint32_t parent);
  void expand_with(std::uint32_t parent, std::span<const PieceId> allowed);
  void offer(std::uint32_t parent, PieceId piece, double score);
  void advance();
  void read_fresh(const ModelStates& from, std::size_t first);
  void adopt_children();
  std::string text_of(const Hypothesis& hypothesis) const;
  bool in_time();

  const Predictions& predictions() const {
    return result_.steps == 0 ? buffers_.start_predictions : buffers_.predictions;
  }

  /// What a child must exceed to be of use.
  double bound() const { return options_.prune ? std::max(finished_.bound(), floor_) : lowest; }

  const Pieces& pieces_;
  const LanguageModel& model_;
  const Opening& opening_;
  StateCache& cache_;
  const SearchOptions& options_;
  Buffers& buffers_;
  std::string escaped_;
  Clock::time_point begun_;
  std::vector<Start> starts_;
  Finished finished_;
  SearchResult result_;
  double mass_ = lowest;   // log of the probability of the prefix: the sum over all starts
  double floor_ = lowest;  // the least score that min_probability lets pass
};

/// Read the pieces of all starts, level by level; starts that begin alike share what they have in common.
void Search::read_starts() {
  std::vector<Node> level(1);
  level.front().piece = pieces_.begin();
  for (std::uint32_t start = 0; start < starts_.size(); ++start) level.front().starts.push_back(start);
  for (std::size_t depth = 0; !level.empty(); ++depth) {
    read_level(level, depth);
    std::vector<Node> next;
    for (const Node& node : level) {
      for (const std::uint32_t start : node.starts) {
        if (starts_[start].pieces.size() > depth) continue;
        starts_[start].score = node.score;
        starts_[start].key = node.key;
        keep_start(start, node.row);
      }
      add_children(node, depth, next);
    }
    std::swap(buffers_.states, buffers_.next_states);
    level = std::move(next);
  }
}

/// Part the starts that go through `node` by their next piece.
void Search::add_children(const Node& node, std::size_t depth, std::vector<Node>& next) const {
  const std::span<const float> logits = buffers_.predictions.row(node.row);
  const double base = node.score - buffers_.predictions.normalisers[node.row];
  const auto first = static_cast<std::ptrdiff_t>(next.size());
  for (const std::uint32_t start : node.starts) {
    if (starts_[start].pieces.size() == depth) continue;
    const PieceId piece = starts_[start].pieces[depth];
    auto child = std::find_if(next.begin() + first, next.end(), [&](const Node& each) { return each.piece == piece; });
    if (child == next.end()) {
      next.push_back({0, node.row, piece, base + logits[piece], node.key.then(piece), {}});
      child = next.end() - 1;
    }
    child->starts.push_back(start);
  }
}

/// Bring the states and predictions of one level's nodes into `states` and `predictions`: from the cache, from what is
/// known of how queries begin, or by reading on from `next_states`.
void Search::read_level(std::vector<Node>& level, std::size_t depth) {
  Buffers& buffers = buffers_;
  buffers.steps.clear();
  std::vector<Node*> fresh;
  std::uint32_t row = static_cast<std::uint32_t>(level.size());  // remembered nodes fill the rows from the last on
  for (Node& node : level) {
    if (cache_.find(model_, node.key, buffers.states, buffers.predictions, row - 1)) {
      node.row = --row;
      continue;
    }
    node.row = static_cast<std::uint32_t>(fresh.size());
    fresh.push_back(&node);
    buffers.steps.push_back({node.parent, node.piece});
  }
  if (fresh.empty()) return;
  read_steps(depth);
  for (const Node* node : fresh) cache_.insert(model_, node->key, buffers.states, buffers.predictions, node->row);
}

/// Take the steps of one level, and predict what comes next.
void Search::read_steps(std::size_t depth) {
  Buffers& buffers = buffers_;
  const std::size_t rows = buffers.steps.size();
  const auto known = [&](const Step& step) { return opening_.has_row(step.piece); };
  if (depth == 0) {
    model_.copy_row(opening_.begin_state(), 0, buffers.states, 0);
    buffers.predictions.copy_row(opening_.begin_prediction(), 0, 0);
    return;
  }
  if (depth == 1 && std::all_of(buffers.steps.begin(), buffers.steps.end(), known)) {
    for (std::size_t row = 0; row < rows; ++row) {
      const std::size_t first_row = opening_.row_of(buffers.steps[row].piece);
      model_.copy_row(opening_.first_states(), first_row, buffers.states, row);
      if (opening_.first_predictions().stride > 0) {
        buffers.predictions.copy_row(opening_.first_predictions(), first_row, row);
      }
    }
    if (opening_.first_predictions().stride > 0) return;
  } else {
    model_.step(buffers.next_states, buffers.steps, buffers.states, 0, buffers.scratch);
    result_.cells += rows;
  }
  model_.predict(buffers.states, 0, rows, buffers.predictions, buffers.scratch);
}

/// Put the state and prediction of a start where the first expansion looks for them.
void Search::keep_start(std::size_t start, std::size_t row) {
  buffers_.start_predictions.copy_row(buffers_.predictions, row, start);
  model_.copy_row(buffers_.states, row, buffers_.start_states, start);
}

/// The log-probability of all texts that go through a start.
double Search::mass_of(const Start& start, std::size_t row) const {
  if (start.tail.empty()) return start.score;
  if (!start.extends) return lowest;
  const Predictions& made = buffers_.start_predictions;
  double sum = 0.0;
  for (const PieceId piece : pieces_.beginning_with(start.tail)) {
    sum += std::exp(static_cast<double>(made.row(row)[piece] - made.normalisers[row]));
  }
  return start.score + std::log(sum);
}

/// Make every start a hypothesis.
void Search::seed() {
  buffers_.links.clear();
  buffers_.beam.clear();
  for (std::uint32_t start = 0; start < starts_.size(); ++start) {
    mass_ = log_add(mass_, mass_of(starts_[start], start));
    const std::size_t length = escaped_.size() - starts_[start].tail.size();
    const bool after_space = std::string_view(escaped_).substr(0, length).ends_with(space_mark);
    buffers_.beam.push_back({starts_[start].score, start, start, no_link, starts_[start].key, after_space});
  }
  if (options_.min_probability > 0.0) floor_ = mass_ + std::log(options_.min_probability);
  for (const Hypothesis& hypothesis : buffers_.beam) {
    if (options_.echo && starts_[hypothesis.start].tail == space_mark) harvest(hypothesis);
  }
}

/// Let a hypothesis end here, if its text is one.
void Search::harvest(const Hypothesis& hypothesis) {
  if (hypothesis.after_space) return;
  const double normaliser = predictions().normalisers[hypothesis.row];
  const double score = hypothesis.score + predictions().row(hypothesis.row)[pieces_.end()] - normaliser;
  // So far below the answers it could neither become one nor add anything to one that would show.
  if (score < bound() - negligible) return;
  std::string text = text_of(hypothesis);
  if (!pieces_.has_bytes() || is_utf8(text)) finished_.add(std::move(text), score);
}

/// Choose the best children of all hypotheses, as many as the beam holds.
void Search::expand() {
  buffers_.children.clear();
  for (std::uint32_t parent = 0; parent < buffers_.beam.size(); ++parent) {
    const Hypothesis& hypothesis = buffers_.beam[parent];
    const Start& start = starts_[hypothesis.start];
    if (hypothesis.link == no_link && !start.extends) continue;
    if (hypothesis.link == no_link && !start.tail.empty()) {
      expand_with(parent, pieces_.beginning_with(start.tail));
    } else {
      expand_all(parent);
    }
  }
  std::sort_heap(buffers_.children.begin(), buffers_.children.end());
}

void Search::expand_all(std::uint32_t parent) {
  const Hypothesis& hypothesis = buffers_.beam[parent];
  const std::span<const float> logits = predictions().row(hypothesis.row);
  const double base = hypothesis.score - predictions().normalisers[hypothesis.row];
  constexpr std::size_t stride = 256;  // the bound rises as children are found, so ask for few at a time
  grow(buffers_.places, stride);
  for (std::size_t first = 0; first < pieces_.size(); first += stride) {
    const std::size_t size = std::min(stride, pieces_.size() - first);
    double threshold = bound();
    if (buffers_.children.size() == options_.beam) threshold = std::max(threshold, buffers_.children.front().score);
    // A little slack, for the comparison is made in floats; `offer` makes it exact.
    const auto cut = static_cast<float>(std::max(threshold - base - 1e-3, -1e30));
    const std::size_t found = model_.kernels().find_above(logits.data() + first, size, cut, buffers_.places.data());
    for (std::size_t i = 0; i < found; ++i) {
      const PieceId piece = static_cast<PieceId>(first) + buffers_.places[i];
      if (hypothesis.after_space && pieces_.begins_word(piece)) continue;
      if (pieces_.spells(piece)) offer(parent, piece, base + logits[piece]);
    }
  }
}

void Search::expand_with(std::uint32_t parent, std::span<const PieceId> allowed) {
  const Hypothesis& hypothesis = buffers_.beam[parent];
  const std::span<const float> logits = predictions().row(hypothesis.row);
  const double base = hypothesis.score - predictions().normalisers[hypothesis.row];
  for (const PieceId piece : allowed) offer(parent, piece, base + logits[piece]);
}

/// Take a child into the beam if it is good enough; the worst of the beam is on top of the heap.
void Search::offer(std::uint32_t parent, PieceId piece, double score) {
  std::vector<Child>& children = buffers_.children;
  const Child child{score, parent, piece};
  if (score < bound()) return;
  if (children.size() == options_.beam) {
    if (!(child < children.front())) return;
    std::pop_heap(children.begin(), children.end());
    children.pop_back();
  }
  children.push_back(child);
  std::push_heap(children.begin(), children.end());
}

/// Read the chosen pieces, best first and a few at a time: what ends among them raises the bound, and the rest may be
/// spared.
void Search::advance() {
  constexpr std::size_t chunk = 6;  // rows from which on the kernels run at full speed
  Buffers& buffers = buffers_;
  const ModelStates& from = result_.steps == 0 ? buffers.start_states : buffers.states;
  adopt_children();
  ++result_.steps;
  std::size_t done = 0;
  std::size_t row = 0;
  while (done < buffers.beam.size() && buffers.beam[done].score >= bound()) {
    buffers.fresh.clear();
    std::size_t end = done;
    for (; end < buffers.beam.size() && buffers.fresh.size() < chunk; ++end) {
      Hypothesis& hypothesis = buffers.beam[end];
      if (cache_.find(model_, hypothesis.key, buffers.next_states, buffers.predictions, row)) {
        hypothesis.row = static_cast<std::uint32_t>(row++);
      } else {
        buffers.fresh.push_back(static_cast<std::uint32_t>(end));
      }
    }
    read_fresh(from, row);
    row += buffers.fresh.size();
    // One after the other, as if each had been read alone: so the answer does not depend on what was remembered.
    for (; done < end && buffers.beam[done].score >= bound(); ++done) harvest(buffers.beam[done]);
    if (done < end) break;
  }
  buffers.beam.resize(done);
  std::swap(buffers.states, buffers.next_states);
}

/// Read the pieces of the hypotheses that nothing was remembered of, into the rows from `first` on.
void Search::read_fresh(const ModelStates& from, std::size_t first) {
  Buffers& buffers = buffers_;
  if (buffers.fresh.empty()) return;
  buffers.chunk.clear();
  for (const std::uint32_t index : buffers.fresh) {
    buffers.beam[index].row = static_cast<std::uint32_t>(first + buffers.chunk.size());
    buffers.chunk.push_back(buffers.steps[index]);
  }
  model_.step(from, buffers.chunk, buffers.next_states, first, buffers.scratch);
  model_.predict(buffers.next_states, first, buffers.chunk.size(), buffers.predictions, buffers.scratch);
  result_.cells += buffers.chunk.size();
  for (const std::uint32_t index : buffers.fresh) {
    const Hypothesis& hypothesis = buffers.beam[index];
    cache_.insert(model_, hypothesis.key, buffers.next_states, buffers.predictions, hypothesis.row);
  }
}

/// The children become the beam.
void Search::adopt_children() {
  Buffers& buffers = buffers_;
  std::swap(buffers.parents, buffers.beam);
  buffers.steps.clear();
  buffers.beam.clear();
  for (const Child& child : buffers.children) {
    const Hypothesis& parent = buffers.parents[child.parent];
    const auto link = static_cast<std::uint32_t>(buffers.links.size());
    buffers.steps.push_back({parent.row, child.piece});
    buffers.beam.push_back({child.score, 0, parent.start, link, parent.key.then(child.piece),
                            pieces_.text(child.piece).ends_with(space_mark)});
    buffers.links.push_back({parent.link, child.piece});
  }
}

std::string Search::text_of(const Hypothesis& hypothesis) const {
  std::vector<PieceId> chosen;
  for (std::uint32_t link = hypothesis.link; link != no_link; link = buffers_.links[link].previous) {
    chosen.push_back(buffers_.links[link].piece);
  }
  std::string text = escaped_.substr(0, escaped_.size() - starts_[hypothesis.start].tail.size());
  for (auto piece = chosen.rbegin(); piece != chosen.rend(); ++piece) text += pieces_.text(*piece);
  return text;
}

bool Search::in_time() {
  if (options_.deadline_ms <= 0.0) return true;
  const std::chrono::duration<double, std::milli> passed = Clock::now() - begun_;
  result_.in_time = passed.count() < options_.deadline_ms;
  return result_.in_time;
}

}  // namespace

std::vector<Start> find_starts(const Pieces& pieces, std::string_view escaped, const SearchOptions& options) {
  std::vector<Start> starts;
  const auto add = [&](std::string_view tail, bool extends) {
    const std::string_view head = escaped.substr(0, escaped.size() - tail.size());
    for (std::vector<PieceId>& segmentation : pieces.segment_best(head, options.segmentations)) {
      starts.push_back({std::move(segmentation), tail, extends, 0.0, {}});
    }
  };
  add({}, true);
  std::size_t cut = escaped.size();
  for (std::size_t back = 1; cut > 0; ++back) {
    cut = previous_character(escaped, cut);
    const std::string_view tail = escaped.substr(cut);
    if (back > options.retrace || tail.size() >= pieces.longest()) {
      if (back == 1 && options.echo && tail == space_mark) add(tail, false);
      break;
    }
    const bool extends = !pieces.beginning_with(tail).empty();
    if (extends || (back == 1 && options.echo && tail == space_mark)) add(tail, extends);
  }
  return starts;
}

SearchResult search(const SearchModel& model, std::string_view prefix, const SearchOptions& options) {
  thread_local Buffers buffers;
  return Search(model, prefix, options, buffers).run();
}

}  // namespace halfword
