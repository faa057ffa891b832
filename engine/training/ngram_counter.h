#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "lm/pieces.h"
#include "training/ngram_trie.h"
#include "training/window_runs.h"
#include "training/workers.h"

namespace halfword {

/// Counts all n-grams of queries that come in batches, with bounded memory.
class NgramCounter {
 public:
  /// About `memory` bytes are used; what needs more goes to files in `folder`.
  NgramCounter(const WindowShape& shape, std::uint64_t least_count, std::string folder, std::size_t memory,
               std::size_t threads);

  /// Cut queries into pieces and count them; one count per query.
  void add(const Pieces& pieces, std::span<const std::string_view> texts, std::span<const std::uint64_t> counts,
           const Workers& workers);

  /// The same for queries that lie one after the other in one text; `begins` has one number more than there are
  /// queries.
  void add(const Pieces& pieces, std::string_view text, std::span<const std::uint64_t> begins,
           std::span<const std::uint64_t> counts, const Workers& workers);

  /// Count queries that are cut already: their pieces one after the other, and how many each has.
  void add(std::span<const PieceId> pieces, std::span<const std::uint32_t> lengths,
           std::span<const std::uint64_t> counts, const Workers& workers);

  /// Count windows that were counted elsewhere: their pieces one after the other, and how many each has. A window of
  /// less than `order` pieces whose last one is no end was cut there, because what follows is too rare.
  void add_windows(std::span<const PieceId> pieces, std::span<const std::uint32_t> lengths,
                   std::span<const std::uint64_t> counts, const Workers& workers);

  /// All n-grams that were counted; nothing can be added any more.
  NgramTrie finish(const Workers& workers);

 private:
  using Runs = std::variant<WindowRuns<std::uint64_t>, WindowRuns<Wide>>;

  static Runs runs_for(const WindowShape& shape, std::size_t threads, std::size_t memory, const Scratch& files);
  template <typename TextAt>
  void add_texts(const Pieces& pieces, const TextAt& text_at, std::span<const std::uint64_t> counts,
                 const Workers& workers);
  template <typename Add>
  void add_each(std::span<const PieceId> pieces, std::span<const std::uint32_t> lengths,
                std::span<const std::uint64_t> counts, const Workers& workers, const Add& add);
  void add_one(std::size_t thread, std::span<const PieceId> pieces, std::uint64_t count);
  void add_window(std::size_t thread, std::span<const PieceId> pieces, std::uint64_t count);

  WindowShape shape_;
  std::uint64_t least_count_;
  std::size_t memory_;
  Scratch files_;
  Runs runs_;
  bool is_empty_ = true;
  bool has_cuts_ = false;
};

}  // namespace halfword
