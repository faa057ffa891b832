#include "search/search.h"

#include <algorithm>
#include <cmath>
#include <string>

#include "search/finished.h"
#include "search/frontier.h"
#include "search/memory_reader.h"
#include "search/predicting_reader.h"
#include "search/row_pool.h"
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
  PredictingBuffers predicting;
  MemoryBuffers memory;
  std::vector<RowStep> steps;
  std::vector<Child*> unread;
  std::vector<Hypothesis> hypotheses;
  std::vector<std::vector<float>> allowed;  // log-probabilities of the pieces that each start may go on with
  std::vector<Child> children;              // of one hypothesis
  std::vector<PieceId> chosen;              // of the hypothesis whose text is put together
  std::string text;
  Finished finished;
  Frontier frontier;
  RowPool rows;
};

/// The search for one prefix.
class Search {
 public:
  Search(const SearchModel& model, Reader& reader, std::span<const Reading> readings, const SearchOptions& options,
         const SearchLimits& limits, const Deadline& deadline, Buffers& buffers)
      : pieces_(model.pieces),
        model_(model.model),
        reader_(reader),
        options_(options),
        limits_(limits),
        network_least_(model.model.memory() && model.earlier == nullptr ? limits.network_least : lowest),
        deadline_(deadline),
        buffers_(buffers),
        frontier_(buffers.frontier),
        rows_(buffers.rows),
        finished_(buffers.finished) {
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
    const bool read = !deadline_.passed() && reader_.read_starts(starts_, deadline_);
    result_.cost.pieces_read = reader_.pieces_read();
    result_.timed_out = !read;
    if (!read) return std::move(result_);
    look(limits_.least);
    if (!result_.timed_out && finds_little()) look(lowest);
    const std::size_t count = options_.count + limits_.surplus;
    result_.completions = finished_.rank(count, options_.merge, options_.conditional ? mass_ : 0.0, floor_);
    result_.log_probability = mass_;
    result_.cost.rows = rows_.size();
    result_.cost.pieces_read = reader_.pieces_read();
    result_.cost.multiplications = reader_.multiplications();
    return std::move(result_);
  }

 private:
  void look(double least_share);
  double mass_of(std::uint32_t start);
  void seed();
  void harvest(const Hypothesis& hypothesis);
  void leave_unlikely(std::vector<Child*>& best) const;
  void read_on(std::size_t length);
  void take(std::size_t length);
  void expand_all(std::uint32_t parent, std::size_t length);
  void expand(std::uint32_t start);
  void expand_tail(std::uint32_t start);
  void offer_children(std::uint32_t parent, std::size_t length);
  void drop(const Child& child);
  const std::string& text_of(const Hypothesis& hypothesis) const;
  bool in_time();

  /// Whether so many hypotheses are kept that those of the shortest length should go first. They would have their turn
  /// anyway, unless there are enough answers before; and when they have gone, what they went on from is kept no more.
  bool crowded() const { return rows_.rows_in_use() >= tuning.crowded_rows; }

  /// The length of the child whose turn it is; 0 when none waits.
  std::size_t next_length() const { return crowded() ? frontier_.shortest_length() : frontier_.best_length(); }

  /// Whether so little is likely that what is unlikely may be wanted.
  bool finds_little() const {
    return least_ > lowest && options_.prune && finished_.size() < options_.count &&
           finished_.log_probability() < mass_ + limits_.least_found;
  }

  /// What a further text must score to be an answer that is worth looking for.
  double bound() const { return options_.prune ? std::max({finished_.bound(), floor_, least_}) : lowest; }

  /// Whether the network reads a child, where there is one.
  bool asks_network(const Child& child) const { return child.score >= mass_ + network_least_; }

  /// Whether a child may lead to an answer, as far as one can tell what it costs to end after its piece.
  bool may_answer(const Child& child) const {
    return !options_.prune || child.score - options_.haste * model_.ending_cost(child.piece) >= finished_.bound();
  }

  const Pieces& pieces_;
  const LanguageModel& model_;
  Reader& reader_;
  const SearchOptions& options_;
  const SearchLimits& limits_;
  double network_least_;  // as in the limits; what a session says only the network can tell
  const Deadline& deadline_;
  Buffers& buffers_;
  Frontier& frontier_;
  RowPool& rows_;
  std::vector<std::string> escaped_;  // the readings
  std::vector<Start> starts_;
  Finished& finished_;
  SearchResult result_;
  std::size_t read_ = 0;   // hypotheses, remembered or not, beyond those of the prefix
  double mass_ = lowest;   // log of the probability of the prefix: the sum over all starts
  double floor_ = lowest;  // the least score that min_probability lets pass
  double least_ = lowest;  // the least score of what is followed
};

/// Take the best of all hypotheses until none can be an answer any more, or none has the least share of the prefix's
/// probability.
void Search::look(double least_share) {
  seed();
  least_ = mass_ + least_share;
  for (std::uint32_t start = 0; start < starts_.size(); ++start) expand(start);
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
}

/// The log-probability of all texts that go through a start.
double Search::mass_of(std::uint32_t start) {
  const Start& from = starts_[start];
  if (from.tail.empty()) return from.score;
  if (!from.extends) return lowest;
  return from.score + reader_.weigh(start, pieces_.beginning_with(from.tail), buffers_.allowed[start]);
}

/// Make every start a hypothesis.
void Search::seed() {
  std::vector<Hypothesis>& hypotheses = buffers_.hypotheses;
  hypotheses.clear();
  finished_.reset(options_.count);
  frontier_.reset(options_.beam);
  rows_.reset(starts_.size(), reader_.read_together());
  grow(buffers_.allowed, starts_.size());
  read_ = 0;
  mass_ = lowest;
  for (std::uint32_t start = 0; start < starts_.size(); ++start) {
    mass_ = log_add(mass_, mass_of(start));
    const bool after_space = starts_[start].text.ends_with(space_mark);
    hypotheses.push_back({starts_[start].score, start, start, none, 0, starts_[start].key, after_space});
  }
  if (options_.min_probability > 0.0) floor_ = mass_ + std::log(options_.min_probability);
  for (std::uint32_t start = 0; start < starts_.size(); ++start) {
    if (options_.echo && starts_[start].tail == space_mark) harvest(hypotheses[start]);
  }
}

/// Let the children of a start wait.
void Search::expand(std::uint32_t start) {
  if (!starts_[start].extends) return;
  if (starts_[start].tail.empty()) {
    expand_all(start, 1);
  } else {
    expand_tail(start);
  }
}

/// Let a hypothesis end here, if its text is one.
void Search::harvest(const Hypothesis& hypothesis) {
  if (hypothesis.after_space) return;
  const double score = hypothesis.score + reader_.log_probability(hypothesis.row, pieces_.end());
  // So far below the answers it could neither become one nor add anything to one that would show.
  if (score < std::max(finished_.bound(), floor_) - tuning.negligible) return;
  const std::string& text = text_of(hypothesis);
  if (!pieces_.has_bytes() || is_utf8(text)) finished_.add(text, score);
}

/// Leave out of the best children those that may well turn out not to be needed, but for one that makes their number
/// even: a second row costs hardly more than one, and a fourth hardly more than three.
void Search::leave_unlikely(std::vector<Child*>& best) const {
  const double least = best.front()->score - (finished_.bound() > lowest ? tuning.likely_late : tuning.likely_early);
  const auto unlikely = [least](const Child* child) { return child->score < least; };
  const auto likely = static_cast<std::size_t>(std::find_if(best.begin(), best.end(), unlikely) - best.begin());
  best.resize(std::min(best.size(), round_up(likely, 2)));
}

/// Read the best child that waits among those of `length` pieces, for its turn has come; and others where several are
/// read at full speed only, as by a network, since they are likely to be needed too.
void Search::read_on(std::size_t length) {
  Buffers& buffers = buffers_;
  const std::size_t together = reader_.read_together();
  const auto worth_reading = [this](const Child& child) {
    return child.score >= bound() && may_answer(child) && asks_network(child);
  };
  Child& best = frontier_.best(length);
  if (together == 1 || !asks_network(best)) {
    buffers.unread.assign(1, &best);
  } else if (crowded()) {
    frontier_.find_unread(length, length, together, worth_reading, buffers.unread);
  } else {
    frontier_.find_unread(1, options_.max_pieces, together, worth_reading, buffers.unread);
    leave_unlikely(buffers.unread);
  }
  read_ += buffers.unread.size();
  buffers.steps.clear();
  for (const Child* child : buffers.unread) {
    const Hypothesis& parent = buffers.hypotheses[child->parent];
    buffers.steps.push_back({parent.row, child->piece, parent.key.then(child->piece), asks_network(*child)});
  }
  reader_.read(buffers.steps, rows_.take(buffers.unread.size()));
  for (std::size_t i = 0; i < buffers.unread.size(); ++i) {
    buffers.unread[i]->row = buffers.steps[i].to;
    rows_.release(buffers.steps[i].from);
  }
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

/// Offer the likely children of a hypothesis, which have `length` pieces.
void Search::expand_all(std::uint32_t parent, std::size_t length) {
  const std::size_t room = frontier_.room(length);
  if (room == 0) return;
  const Hypothesis& hypothesis = buffers_.hypotheses[parent];
  const double threshold = std::max(bound(), frontier_.threshold(length));
  const std::uint8_t choice = hypothesis.after_space ? Pieces::after_space : Pieces::not_after_space;
  std::vector<Child>& children = buffers_.children;
  children.clear();
  for (const LikelyPiece& likely : reader_.find_likely(hypothesis.row, {threshold - hypothesis.score, room, choice})) {
    const double score = hypothesis.score + likely.value;
    if (score >= threshold) children.push_back({score, parent, likely.piece});
  }
  offer_children(parent, length);
}

/// Offer the children of a start that begin with its tail.
void Search::expand_tail(std::uint32_t start) {
  const std::span<const PieceId> allowed = pieces_.beginning_with(starts_[start].tail);
  const double threshold = std::max(bound(), frontier_.threshold(1));
  std::vector<Child>& children = buffers_.children;
  children.clear();
  for (std::size_t i = 0; i < allowed.size(); ++i) {
    const double score = starts_[start].score + buffers_.allowed[start][i];
    if (score >= threshold) children.push_back({score, start, allowed[i]});
  }
  const std::size_t room = frontier_.room(1);
  if (children.size() > room) {
    const auto better = [](const Child& left, const Child& right) { return right < left; };
    std::nth_element(children.begin(), children.begin() + static_cast<std::ptrdiff_t>(room), children.end(), better);
    children.resize(room);
  }
  offer_children(start, 1);
}

/// Let the children of a hypothesis wait, as many as are good enough; its row is needed until all of them are read.
void Search::offer_children(std::uint32_t parent, std::size_t length) {
  if (buffers_.children.empty()) return;
  rows_.use(buffers_.hypotheses[parent].row, static_cast<std::uint32_t>(buffers_.children.size()));
  frontier_.offer(length, buffers_.children, [this](const Child& lost) { drop(lost); });
}

/// Forget a child that was waiting.
void Search::drop(const Child& child) {
  rows_.release(child.row == Child::unread ? buffers_.hypotheses[child.parent].row : child.row);
}

/// The text of a hypothesis, until the next one is asked for.
const std::string& Search::text_of(const Hypothesis& hypothesis) const {
  std::vector<PieceId>& chosen = buffers_.chosen;
  chosen.clear();
  for (const Hypothesis* each = &hypothesis; each->previous != none; each = &buffers_.hypotheses[each->previous]) {
    chosen.push_back(each->piece);
  }
  std::string& text = buffers_.text;
  text = starts_[hypothesis.start].text;
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
  struct Tail {
    std::string_view text;
    bool extends;
  };
  std::vector<Tail> tails{{{}, true}};
  std::size_t cut = escaped.size();
  for (std::size_t back = 1; cut > 0; ++back) {
    cut = previous_character(escaped, cut);
    const std::string_view tail = escaped.substr(cut);
    const bool may_end = back == 1 && options.echo && tail == space_mark;
    const bool too_long = back > options.retrace || tail.size() >= pieces.longest();
    const bool extends = !too_long && !pieces.beginning_with(tail).empty();
    if (extends || may_end) tails.push_back({tail, extends});
    if (too_long) break;
  }
  // The words before the last one of the shortest text are the same in all of them.
  const std::size_t common = pieces.last_word(escaped.substr(0, escaped.size() - tails.back().text.size()));
  const std::vector<PieceId> beginning = pieces.segment(escaped.substr(0, common));
  std::vector<Start> starts;
  starts.reserve(tails.size());
  for (const auto& [tail, extends] : tails) {
    if (deadline.passed()) break;
    const std::string_view text = escaped.substr(0, escaped.size() - tail.size());
    for (std::vector<PieceId>& segmentation : pieces.segment_best(text.substr(common), options.segmentations)) {
      segmentation.insert(segmentation.begin(), beginning.begin(), beginning.end());
      starts.push_back({text, tail, std::move(segmentation), 0.0, extends, {}});
    }
  }
  return starts;
}

SearchResult search(const SearchModel& model, std::span<const Reading> readings, const SearchOptions& options,
                    const SearchLimits& limits, const Deadline& deadline) {
  thread_local Buffers buffers;
  const auto look = [&](Reader&& reader) {
    return Search(model, reader, readings, options, limits, deadline, buffers).run();
  };
  const Ngram* memory = model.model.memory_alone();
  SearchResult result = memory ? look(MemoryReader(*memory, model.pieces, buffers.memory))
                               : look(PredictingReader(model, buffers.predicting));
  if (result.cost.rows > tuning.crowded_rows) buffers = Buffers();
  return result;
}

}  // namespace halfword
