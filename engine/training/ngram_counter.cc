#include "training/ngram_counter.h"

#include <algorithm>
#include <atomic>
#include <numeric>
#include <stdexcept>
#include <utility>

#include "training/word_cutter.h"

namespace halfword {
namespace {

constexpr std::size_t block = 1024;  // queries that a thread takes at a time

std::size_t blocks_of(std::size_t size) { return (size + block - 1) / block; }

}  // namespace

NgramCounter::NgramCounter(const WindowShape& shape, std::uint64_t least_count, std::string folder, std::size_t memory,
                           std::size_t threads)
    : shape_(shape),
      least_count_(least_count),
      memory_(memory),
      files_(std::move(folder)),
      runs_(runs_for(shape, threads, memory / 2, files_)) {}

NgramCounter::Runs NgramCounter::runs_for(const WindowShape& shape, std::size_t threads, std::size_t memory,
                                          const Scratch& files) {
  if (shape.used_bits() <= 64) return WindowRuns<std::uint64_t>(shape, threads, memory, files);
  return WindowRuns<Wide>(shape, threads, memory, files);
}

void NgramCounter::add_one(std::size_t thread, std::span<const PieceId> pieces, std::uint64_t count) {
  if (count == 0) throw std::invalid_argument("a query must have been typed at least once");
  for (const PieceId piece : pieces) {
    if (piece >= shape_.vocabulary || piece == shape_.begin || piece == shape_.end) {
      throw std::invalid_argument("a query has a piece that no query can have");
    }
  }
  std::visit([&](auto& runs) { runs.add(thread, pieces, count); }, runs_);
}

void NgramCounter::add_window(std::size_t thread, std::span<const PieceId> pieces, std::uint64_t count) {
  if (count == 0) throw std::invalid_argument("a window must have been seen at least once");
  if (pieces.empty() || pieces.size() > shape_.order || pieces.front() == shape_.end) {
    throw std::invalid_argument("a window has 1 to K pieces and does not begin with an end");
  }
  for (std::size_t place = 0; place < pieces.size(); ++place) {
    const PieceId piece = pieces[place];
    const bool inside = (place == 0 || piece != shape_.begin) && (place + 1 == pieces.size() || piece != shape_.end);
    if (piece >= shape_.vocabulary || !inside) throw std::invalid_argument("a window has a piece that it cannot have");
  }
  std::visit([&](auto& runs) { runs.add_window(thread, pieces, count); }, runs_);
}

template <typename TextAt>
void NgramCounter::add_texts(const Pieces& pieces, const TextAt& text_at, std::span<const std::uint64_t> counts,
                             const Workers& workers) {
  is_empty_ = is_empty_ && counts.empty();
  std::vector<WordCutter> cutters(workers.threads(), WordCutter(pieces));
  workers.each(blocks_of(counts.size()), [&](std::size_t step, std::size_t thread) {
    const std::size_t last = std::min((step + 1) * block, counts.size());
    for (std::size_t place = step * block; place < last; ++place) {
      add_one(thread, cutters[thread].cut(text_at(place)), counts[place]);
    }
  });
}

void NgramCounter::add(const Pieces& pieces, std::span<const std::string_view> texts,
                       std::span<const std::uint64_t> counts, const Workers& workers) {
  if (texts.size() != counts.size()) throw std::invalid_argument("there must be one count per query");
  add_texts(pieces, [&](std::size_t place) { return texts[place]; }, counts, workers);
}

void NgramCounter::add(const Pieces& pieces, std::string_view text, std::span<const std::uint64_t> begins,
                       std::span<const std::uint64_t> counts, const Workers& workers) {
  const bool ordered = std::is_sorted(begins.begin(), begins.end());
  if (begins.size() != counts.size() + 1 || !ordered || begins.back() > text.size()) {
    throw std::invalid_argument("there must be one count and one text per query");
  }
  const auto text_at = [&](std::size_t place) { return text.substr(begins[place], begins[place + 1] - begins[place]); };
  add_texts(pieces, text_at, counts, workers);
}

void NgramCounter::add(std::span<const PieceId> pieces, std::span<const std::uint32_t> lengths,
                       std::span<const std::uint64_t> counts, const Workers& workers) {
  add_each(pieces, lengths, counts, workers,
           [this](std::size_t thread, auto some, std::uint64_t count) { add_one(thread, some, count); });
}

void NgramCounter::add_windows(std::span<const PieceId> pieces, std::span<const std::uint32_t> lengths,
                               std::span<const std::uint64_t> counts, const Workers& workers) {
  std::atomic<bool> cut = has_cuts_;
  add_each(pieces, lengths, counts, workers, [&](std::size_t thread, auto some, std::uint64_t count) {
    add_window(thread, some, count);
    if (shape_.is_cut(some)) cut.store(true, std::memory_order_relaxed);
  });
  has_cuts_ = cut;
}

template <typename Add>
void NgramCounter::add_each(std::span<const PieceId> pieces, std::span<const std::uint32_t> lengths,
                            std::span<const std::uint64_t> counts, const Workers& workers, const Add& add) {
  const std::size_t total = std::accumulate(lengths.begin(), lengths.end(), std::size_t{0});
  if (lengths.size() != counts.size() || total != pieces.size()) {
    throw std::invalid_argument("there must be one count and one length per query");
  }
  is_empty_ = is_empty_ && lengths.empty();
  std::vector<std::size_t> begins{0};  // of each block among the pieces
  for (std::size_t first = 0; first < lengths.size(); first += block) {
    const auto of_block = lengths.subspan(first, std::min(block, lengths.size() - first));
    begins.push_back(std::accumulate(of_block.begin(), of_block.end(), begins.back()));
  }
  workers.each(blocks_of(lengths.size()), [&](std::size_t step, std::size_t thread) {
    std::size_t begin = begins[step];
    const std::size_t last = std::min((step + 1) * block, lengths.size());
    for (std::size_t place = step * block; place < last; ++place) {
      add(thread, pieces.subspan(begin, lengths[place]), counts[place]);
      begin += lengths[place];
    }
  });
}

NgramTrie NgramCounter::finish(const Workers& workers) {
  if (is_empty_) throw std::invalid_argument("there is no query to learn n-grams from");
  return std::visit(
      [&](auto& kept) {
        auto runs = std::move(kept);  // so that they are gone at the end
        runs.finish(workers);
        return NgramTrie::of(runs, shape_, {least_count_, has_cuts_}, memory_, files_, workers);
      },
      runs_);
}

}  // namespace halfword
