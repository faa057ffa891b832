#include "search/memory_reader.h"

#include <algorithm>
#include <cmath>

#include "lm/linear.h"
#include "search/search.h"

namespace halfword {
namespace {

/// Pieces up to which each is looked up by itself; more of them are looked up with all others.
constexpr std::size_t few_pieces = 12;

std::size_t common_pieces(const Start& left, const Start& right) {
  const auto ends = std::mismatch(left.pieces.begin(), left.pieces.end(), right.pieces.begin(), right.pieces.end());
  return static_cast<std::size_t>(ends.first - left.pieces.begin());
}

/// The least probability that has a logarithm of its own, as in the kernels.
constexpr float least_probability = 1e-30F;

float log_of(float probability) { return std::log(std::max(probability, least_probability)); }

}  // namespace

bool MemoryReader::read_starts(std::vector<Start>& starts, const Deadline& deadline) {
  std::vector<NgramState>& path = buffers_.path;
  std::vector<double>& scores = buffers_.scores;
  path.clear();
  scores.clear();
  grow(buffers_.rows, starts.size());
  std::vector<std::size_t> begins;  // where the path of each start begins, with nothing read
  for (std::size_t index = 0; index < starts.size(); ++index) {
    if (deadline.passed()) return false;
    Start& start = starts[index];
    std::size_t shared = 0;
    std::size_t like = 0;  // the start before it that shares the most pieces
    for (std::size_t before = 0; before < index; ++before) {
      const std::size_t common = common_pieces(start, starts[before]);
      if (common > shared) like = before;
      shared = std::max(shared, common);
    }
    begins.push_back(path.size());
    path.resize(path.size() + start.pieces.size() + 1);
    scores.resize(path.size());
    const std::size_t begin = begins.back();
    if (index == 0) {
      path[begin] = memory_.start();
    } else {
      const auto from = static_cast<std::ptrdiff_t>(begins[like]);
      std::copy_n(path.begin() + from, shared + 1, path.begin() + static_cast<std::ptrdiff_t>(begin));
      std::copy_n(scores.begin() + from, shared + 1, scores.begin() + static_cast<std::ptrdiff_t>(begin));
    }
    for (std::size_t place = shared; place < start.pieces.size(); ++place) {
      const PieceId piece = start.pieces[place];
      scores[begin + place + 1] = scores[begin + place] + log_of(memory_.probability(path[begin + place], piece));
      path[begin + place + 1] = memory_.advance(path[begin + place], piece);
      ++read_;
    }
    start.score += scores.back();
    buffers_.rows[index] = path.back();
  }
  return true;
}

void MemoryReader::read(std::span<RowStep> steps, std::uint32_t first) {
  for (std::size_t i = 0; i < steps.size(); ++i) {
    steps[i].to = first + static_cast<std::uint32_t>(i);
    read(steps[i]);
  }
}

void MemoryReader::put(std::uint32_t row, const NgramState& state) {
  grow(buffers_.rows, row + 1);
  buffers_.rows[row] = state;
}

void MemoryReader::read(const RowStep& step) {
  put(step.to, memory_.advance(buffers_.rows[step.from], step.piece));
  ++read_;
}

double MemoryReader::log_probability(std::uint32_t row, PieceId piece) {
  return log_of(memory_.probability(buffers_.rows[row], piece));
}

double MemoryReader::weigh(std::uint32_t row, std::span<const PieceId> pieces, std::vector<float>& log_probabilities) {
  const NgramState& state = buffers_.rows[row];
  std::vector<float>& all = buffers_.probabilities;
  const bool few = pieces.size() <= few_pieces;
  if (!few) {
    grow(all, memory_.vocabulary());
    memory_.predict(state, std::span(all).first(memory_.vocabulary()));
  }
  double sum = 0.0;
  log_probabilities.clear();
  for (const PieceId piece : pieces) {
    const float probability = few ? memory_.probability(state, piece) : all[piece];
    sum += probability;
    log_probabilities.push_back(log_of(probability));
  }
  return std::log(sum);
}

std::span<const LikelyPiece> MemoryReader::find_likely(std::uint32_t row, const WantedPieces& wanted) {
  constexpr double slack = 1e-5;  // for the comparison is made in floats; the search makes it again in doubles
  LikelyPieces& likely = buffers_.scratch.likely;
  const double least = std::exp(std::min(wanted.least - slack, 1.0));
  likely.reset(least > least_probability ? static_cast<float>(least) : 0.0F, wanted.most);
  memory_.find_likely(buffers_.rows[row], pieces_.choices(), wanted.choice, buffers_.scratch);
  for (LikelyPiece& each : likely.found()) each.value = log_of(each.value);
  return likely.found();
}

}  // namespace halfword
