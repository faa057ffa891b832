#include "search/search.h"

#include <algorithm>
#include <cmath>
#include <string>

#include "search/finished.h"
#include "search/frontier.h"
#include "search/row_pool.h"
#include "search/start_reader.h"
#include "search/tuning.h"
#include "text/escape.h"

namespace halfword {
namespace {

constexpr double lowest = -std::numeric_limits<double>::infinity();
constexpr std::uint32_t none = UINT32_MAX;

/// A sequence of pieces that begins like the prefix and whose turn has come.
struct Hypothesis {
  double score;
  std::uint32_t row;       // of its state and prediction
  std::uint32_t start;     // where it set out
  std::uint32_t previous;  // the hypothesis it goes on from
  PieceId piece;           // its last one
  SequenceKey key;         // of all its pieces
  bool after_space;        // its text ends in a space
};

/// What a thread keeps from one search to the next, so that nothing is allocated in the loop.
struct Buffers {
  ModelStates states;  // of starts and hypotheses
  Predictions predictions;
  StartBuffers starts;
  ModelScratch scratch;
  std::vector<Step> steps;
  std::vector<Child*> unread;
  std::vector<std::uint32_t> places;
  std::vector<std::uint32_t> copying;
  std::vector<Hypothesis> hypotheses;
  Frontier frontier;
  RowPool rows;
};

/// The search for one prefix.
class Search {
 public:
  Search(const SearchModel& model, std::span<const Reading> readings, const SearchOptions& options,
         const SearchLimits& limits, const Deadline& deadline, Buffers& buffers)
      : parts_(model),
        pieces_(model.pieces),
        model_(model.model),
        cache_(model.cache),
        options_(options),
        limits_(limits),
        deadline_(deadline),
        buffers_(buffers),
        frontier_(buffers.frontier),
        rows_(buffers.rows),
        finished_(options.count) {
    escaped_.reserve(readings.size());  // starts point into these texts
    for (const Reading& reading : readings) {
      escaped_.push_back(escape(reading.text));
      for (Start& start : find_starts(model.pieces, escaped_.back(), options, deadline)) {
        start.score = reading.log_probability;
        starts_.push_back(std::move(start));
      }
    }
  }

  SearchResult run() {
    const std::size_t multiplied_before = buffers_.scratch.network.multiplications;
    StartReader reader(parts_, deadline_, buffers_.starts, buffers_.scratch);
    const bool read = !deadline_.passed() && reader.read(starts_, buffers_.states, buffers_.predictions);
    result_.cost.pieces_read = reader.pieces_read();
    result_.timed_out = !read;
    if (!read) return std::move(result_);
    seed();
    for (std::size_t length = next_length(); length > 0; length = next_length()) {
      const Child& best = frontier_.best(length);
      if (best.score < bound() && !crowded()) break;
      if (best.score < bound() || !may_answer(best)) {
        drop(frontier_.take(length));
        continue;
      }
      if (best.row == Child::unread) {
        if (read_ >= limits_.most_read && options_.prune) {
          drop(frontier_.take(length));
          continue;
        }
        if (!in_time()) break;
        read_on(length);
      }
      take(length);
    }
    const std::size_t count = options_.count + limits_.surplus;
    result_.completions = finished_.rank(count, options_.merge, options_.conditional ? mass_ : 0.0, floor_);
    result_.log_probability = mass_;
    result_.cost.rows = rows_.size();
    result_.cost.multiplications = buffers_.scratch.network.multiplications - multiplied_before;
    return std::move(result_);
  }

 private:
  double mass_of(const Start& start, std::size_t row) const;
  void seed();
  void harvest(const Hypothesis& hypothesis);
  void leave_unlikely(std::vector<Child*>& best) const;
  void read_on(std::size_t length);
  void take(std::size_t length);
  void expand_all(std::uint32_t parent, std::size_t length);
  void expand_with(std::uint32_t parent, std::size_t length, std::span<const PieceId> allowed);
  void offer(std::size_t length, const Child& child);
  void drop(const Child& child);
  std::string text_of(const Hypothesis& hypothesis) const;
  bool in_time();

  double log_probability(const Hypothesis& hypothesis, PieceId piece) const {
    const Predictions& predictions = buffers_.predictions;
    return predictions.row(hypothesis.row)[piece] - predictions.normalisers[hypothesis.row];
  }

  /// Whether so many hypotheses are kept that those of the shortest length should go first. They would have their turn
  /// anyway, unless there are enough answers before; and when they have gone, what they went on from is kept no more.
  bool crowded() const { return rows_.blocks_in_use() >= tuning.crowded_blocks; }

  /// The length of the child whose turn it is; 0 when none waits.
  std::size_t next_length() const { return crowded() ? frontier_.shortest_length() : frontier_.best_length(); }

  /// What a further text must score to be an answer.
  double bound() const { return options_.prune ? std::max(finished_.bound(), floor_) : lowest; }

  /// Whether a child may lead to an answer, as far as one can tell what it costs to end after its piece.
  bool may_answer(const Child& child) const {
    return !options_.prune || child.score - options_.haste * model_.ending_cost(child.piece) >= finished_.bound();
  }

  const SearchModel& parts_;
  const Pieces& pieces_;
  const LanguageModel& model_;
  StateCache& cache_;
  const SearchOptions& options_;
  const SearchLimits& limits_;
  const Deadline& deadline_;
  Buffers& buffers_;
  Frontier& frontier_;
  RowPool& rows_;
  std::vector<std::string> escaped_;  // the readings
  std::vector<Start> starts_;
  Finished finished_;
  SearchResult result_;
  std::size_t read_ = 0;   // hypotheses, remembered or not, beyond those of the prefix
  double mass_ = lowest;   // log of the probability of the prefix: the sum over all starts
  double floor_ = lowest;  // the least score that min_probability lets pass
};

/// The log-probability of all texts that go through a start.
double Search::mass_of(const Start& start, std::size_t row) const {
  if (start.tail.empty()) return start.score;
  if (!start.extends) return lowest;
  const Predictions& made = buffers_.predictions;
  double sum = 0.0;
  for (const PieceId piece : pieces_.beginning_with(start.tail)) {
    sum += std::exp(static_cast<double>(made.row(row)[piece] - made.normalisers[row]));
  }
  return start.score + std::log(sum);
}

/// Make every start a hypothesis, and let its children wait.
void Search::seed() {
  std::vector<Hypothesis>& hypotheses = buffers_.hypotheses;
  hypotheses.clear();
  frontier_.reset(options_.beam);
  rows_.reset(starts_.size());
  for (std::uint32_t start = 0; start < starts_.size(); ++start) {
    mass_ = log_add(mass_, mass_of(starts_[start], start));
    const bool after_space = starts_[start].text.ends_with(space_mark);
    hypotheses.push_back({starts_[start].score, start, start, none, 0, starts_[start].key, after_space});
  }
  if (options_.min_probability > 0.0) floor_ = mass_ + std::log(options_.min_probability);
  for (std::uint32_t start = 0; start < starts_.size(); ++start) {
    if (options_.echo && starts_[start].tail == space_mark) harvest(hypotheses[start]);
  }
  for (std::uint32_t start = 0; start < starts_.size(); ++start) {
    if (!starts_[start].extends) continue;
    if (starts_[start].tail.empty()) {
      expand_all(start, 1);
    } else {
      expand_with(start, 1, pieces_.beginning_with(starts_[start].tail));
    }
  }
}

/// Let a hypothesis end here, if its text is one.
void Search::harvest(const Hypothesis& hypothesis) {
  if (hypothesis.after_space) return;
  const double score = hypothesis.score + log_probability(hypothesis, pieces_.end());
  // So far below the answers it could neither become one nor add anything to one that would show.
  if (score < std::max(finished_.bound(), floor_) - tuning.negligible) return;
  std::string text = text_of(hypothesis);
  if (!pieces_.has_bytes() || is_utf8(text)) finished_.add(std::move(text), score);
}

/// Leave out of the best children those that may well turn out not to be needed, but for one that makes their number
/// even: a second row costs hardly more than one, and a fourth hardly more than three.
void Search::leave_unlikely(std::vector<Child*>& best) const {
  const double least = best.front()->score - (finished_.bound() > lowest ? tuning.likely_late : tuning.likely_early);
  const auto unlikely = [least](const Child* child) { return child->score < least; };
  const auto likely = static_cast<std::size_t>(std::find_if(best.begin(), best.end(), unlikely) - best.begin());
  best.resize(std::min(best.size(), round_up(likely, 2)));
}

/// Read the best children that wait, though the turn of only one has come, which has `length` pieces: the kernels run
/// at full speed on several rows only, and the others are likely to be needed too.
void Search::read_on(std::size_t length) {
  Buffers& buffers = buffers_;
  const auto may_answer = [this](const Child& child) { return child.score >= bound() && this->may_answer(child); };
  if (crowded()) {
    frontier_.find_unread(length, length, RowPool::block, may_answer, buffers.unread);
  } else {
    frontier_.find_unread(1, options_.max_pieces, RowPool::block, may_answer, buffers.unread);
    leave_unlikely(buffers.unread);
  }
  read_ += buffers.unread.size();
  const std::uint32_t first = rows_.take(buffers.unread.size());
  std::uint32_t remembered = first + static_cast<std::uint32_t>(buffers.unread.size());
  buffers.steps.clear();
  for (Child* child : buffers.unread) {
    const Hypothesis& parent = buffers.hypotheses[child->parent];
    if (cache_.find(model_, parent.key.then(child->piece), buffers.states, buffers.predictions, remembered - 1)) {
      child->row = --remembered;
      continue;
    }
    child->row = first + static_cast<std::uint32_t>(buffers.steps.size());
    buffers.steps.push_back({parent.row, child->piece});
  }
  if (!buffers.steps.empty()) {
    model_.step(buffers.states, buffers.steps, buffers.states, first, buffers.scratch);
    model_.predict(buffers.states, first, buffers.steps.size(), buffers.predictions, buffers.scratch);
    result_.cost.pieces_read += buffers.steps.size();
  }
  for (const Child* child : buffers.unread) {
    const Hypothesis& parent = buffers.hypotheses[child->parent];
    if (child->row < remembered) {
      cache_.insert(model_, parent.key.then(child->piece), buffers.states, buffers.predictions, child->row);
    }
    rows_.release(parent.row);
  }
  if (parts_.earlier == nullptr) return;
  buffers.copying.clear();  // the cache keeps what does not depend on the session
  for (const Child* child : buffers.unread) buffers.copying.push_back(child->row);
  model_.copy_earlier(*parts_.earlier, buffers.states, buffers.copying, buffers.predictions, buffers.scratch);
}

/// Take the best child of a length: let it end, and let its children wait.
void Search::take(std::size_t length) {
  const Child child = frontier_.take(length);
  const Hypothesis& parent = buffers_.hypotheses[child.parent];
  const bool after_space = pieces_.text(child.piece).ends_with(space_mark);
  const Hypothesis hypothesis{
      child.score, child.row, parent.start, child.parent, child.piece, parent.key.then(child.piece), after_space};
  const auto index = static_cast<std::uint32_t>(buffers_.hypotheses.size());
  buffers_.hypotheses.push_back(hypothesis);
  result_.cost.longest = std::max(result_.cost.longest, length);
  harvest(hypothesis);
  if (length < options_.max_pieces) expand_all(index, length + 1);
  rows_.release(child.row);
}

/// Offer all children of a hypothesis, which have `length` pieces.
void Search::expand_all(std::uint32_t parent, std::size_t length) {
  const Hypothesis& hypothesis = buffers_.hypotheses[parent];
  const std::span<const float> logits = buffers_.predictions.row(hypothesis.row);
  const double base = hypothesis.score - buffers_.predictions.normalisers[hypothesis.row];
  constexpr std::size_t stride = 256;  // the threshold rises as children are found, so ask for few at a time
  grow(buffers_.places, stride);
  for (std::size_t first = 0; first < pieces_.size(); first += stride) {
    const std::size_t size = std::min(stride, pieces_.size() - first);
    double threshold = std::max(bound(), frontier_.threshold(length));
    // A little slack, for the comparison is made in floats; then in doubles it is exact.
    const auto cut = static_cast<float>(std::clamp(threshold - base - 1e-3, -1e30, 1e30));
    const std::size_t found = model_.kernels().find_above(logits.data() + first, size, cut, buffers_.places.data());
    for (std::size_t i = 0; i < found; ++i) {
      const PieceId piece = static_cast<PieceId>(first) + buffers_.places[i];
      const double score = base + logits[piece];
      if (score < threshold || (hypothesis.after_space && pieces_.begins_word(piece))) continue;
      if (!pieces_.spells(piece)) continue;
      offer(length, {score, parent, piece});
      threshold = std::max(bound(), frontier_.threshold(length));
    }
  }
}

void Search::expand_with(std::uint32_t parent, std::size_t length, std::span<const PieceId> allowed) {
  const Hypothesis& hypothesis = buffers_.hypotheses[parent];
  for (const PieceId piece : allowed) {
    offer(length, {hypothesis.score + log_probability(hypothesis, piece), parent, piece});
  }
}

/// Let a child wait if it is good enough; its parent's row is needed until it is read.
void Search::offer(std::size_t length, const Child& child) {
  if (!(child.score >= bound())) return;
  rows_.use(buffers_.hypotheses[child.parent].row);
  if (const std::optional<Child> lost = frontier_.offer(length, child)) drop(*lost);
}

/// Forget a child that was waiting.
void Search::drop(const Child& child) {
  rows_.release(child.row == Child::unread ? buffers_.hypotheses[child.parent].row : child.row);
}

std::string Search::text_of(const Hypothesis& hypothesis) const {
  std::vector<PieceId> chosen;
  for (const Hypothesis* each = &hypothesis; each->previous != none; each = &buffers_.hypotheses[each->previous]) {
    chosen.push_back(each->piece);
  }
  std::string text(starts_[hypothesis.start].text);
  for (auto piece = chosen.rbegin(); piece != chosen.rend(); ++piece) text += pieces_.text(*piece);
  return text;
}

bool Search::in_time() {
  result_.timed_out = deadline_.passed();
  return !result_.timed_out;
}

}  // namespace

std::vector<Start> find_starts(const Pieces& pieces, std::string_view escaped, const SearchOptions& options,
                               const Deadline& deadline) {
  std::vector<Start> starts;
  const auto add = [&](std::string_view tail, bool extends) {
    const std::string_view text = escaped.substr(0, escaped.size() - tail.size());
    if (deadline.passed()) return;
    for (std::vector<PieceId>& segmentation : pieces.segment_best(text, options.segmentations)) {
      starts.push_back({text, tail, std::move(segmentation), 0.0, extends, {}});
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

SearchResult search(const SearchModel& model, std::span<const Reading> readings, const SearchOptions& options,
                    const SearchLimits& limits, const Deadline& deadline) {
  thread_local Buffers buffers;
  SearchResult result = Search(model, readings, options, limits, deadline, buffers).run();
  if (result.cost.rows > tuning.crowded_blocks * RowPool::block) buffers = Buffers();
  return result;
}

}  // namespace halfword
