#include "bindings/training.h"

#include <nanobind/ndarray.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/string_view.h>
#include <nanobind/stl/vector.h>

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "lm/pieces.h"
#include "training/kneser_ney.h"
#include "training/memory_layout.h"
#include "training/ngram_counter.h"
#include "training/ngram_pruning.h"
#include "training/ngram_trie.h"
#include "training/workers.h"

namespace nb = nanobind;
using namespace nb::literals;

namespace halfword {
namespace {

template <typename T>
using Given = nb::ndarray<const T, nb::ndim<1>, nb::c_contig, nb::device::cpu>;

template <typename T>
std::span<const T> span_of(const Given<T>& given) {
  return {given.data(), given.shape(0)};
}

template <typename T>
nb::object to_numpy(std::vector<T> values) {
  auto* kept = new std::vector<T>(std::move(values));  // the capsule deletes it with the array
  const nb::capsule owner(kept, [](void* pointer) noexcept { delete static_cast<std::vector<T>*>(pointer); });
  return nb::cast(nb::ndarray<nb::numpy, T, nb::ndim<1>>(kept->data(), {kept->size()}, owner));
}

/// Threads that end when a signal handler of Python raises. The calling thread has let go of the GIL.
Workers interruptible(std::size_t threads) {
  return {threads, [] {
            const nb::gil_scoped_acquire acquire;
            if (PyErr_CheckSignals() != 0) throw nb::python_error();
          }};
}

/// What was counted, with the threads that work on it.
struct CountedNgrams {
  CountedNgrams(NgramTrie trie, std::size_t threads) : trie(std::move(trie)), threads(threads) {}
  CountedNgrams(CountedNgrams&&) = default;

  NgramTrie trie;
  std::size_t threads;
  BackoffKeys backoffs;
};

class Counting {
 public:
  Counting(unsigned order, std::size_t vocabulary, PieceId begin, PieceId end, std::uint64_t least_count,
           std::string folder, std::size_t memory, std::size_t threads)
      : threads_(interruptible(threads).threads()),
        counter_(WindowShape(order, vocabulary, begin, end), least_count, std::move(folder), memory, threads_) {}
  Counting(Counting&&) = default;

  void add_texts(const Pieces& pieces, const std::vector<std::string_view>& texts, Given<std::uint64_t> counts) {
    const nb::gil_scoped_release release;
    counter_.add(pieces, texts, span_of(counts), interruptible(threads_));
  }

  void add_columns(const Pieces& pieces, Given<std::uint8_t> text, Given<std::uint64_t> begins,
                   Given<std::uint64_t> counts) {
    const std::string_view whole(reinterpret_cast<const char*>(text.data()), text.shape(0));
    const nb::gil_scoped_release release;
    counter_.add(pieces, whole, span_of(begins), span_of(counts), interruptible(threads_));
  }

  void add_pieces(Given<std::uint32_t> pieces, Given<std::uint32_t> lengths, Given<std::uint64_t> counts) {
    const nb::gil_scoped_release release;
    counter_.add(span_of(pieces), span_of(lengths), span_of(counts), interruptible(threads_));
  }

  void add_windows(Given<std::uint32_t> pieces, Given<std::uint32_t> lengths, Given<std::uint64_t> counts) {
    const nb::gil_scoped_release release;
    counter_.add_windows(span_of(pieces), span_of(lengths), span_of(counts), interruptible(threads_));
  }

  CountedNgrams finish() {
    const nb::gil_scoped_release release;
    return {counter_.finish(interruptible(threads_)), threads_};
  }

 private:
  std::size_t threads_;
  NgramCounter counter_;
};

void adjust(CountedNgrams& counted) {
  const nb::gil_scoped_release release;
  adjust_counts(counted.trie, interruptible(counted.threads));
}

nb::tuple times(const CountedNgrams& counted, std::size_t order) {
  std::vector<std::uint64_t> counts;
  std::vector<std::uint64_t> numbers;
  {
    const nb::gil_scoped_release release;
    for (const auto& [count, number] : adjusted_times(counted.trie, order, interruptible(counted.threads))) {
      counts.push_back(count);
      numbers.push_back(number);
    }
  }
  return nb::make_tuple(to_numpy(std::move(counts)), to_numpy(std::move(numbers)));
}

nb::object unigram_counts(const CountedNgrams& counted) {
  const Column<std::uint64_t>& counts = counted.trie.level(1).adjusted;
  return to_numpy(std::vector<std::uint64_t>(counts.data(), counts.data() + counts.size()));
}

/// All pairs of pieces: (first piece, second piece, count).
nb::tuple pairs(const CountedNgrams& counted) {
  const NgramLevel& single = counted.trie.level(1);
  const NgramLevel& level = counted.trie.level(2);
  std::vector<std::int64_t> first;
  std::vector<std::int64_t> second;
  std::vector<double> counts;
  for (std::size_t piece = 0; piece < single.size; ++piece) {
    for (std::size_t pair = single.first_child[piece]; pair < single.first_child[piece + 1]; ++pair) {
      first.push_back(static_cast<std::int64_t>(piece));
      second.push_back(level.piece[pair]);
      counts.push_back(static_cast<double>(counted.trie.pair_counts()[pair]));
    }
  }
  return nb::make_tuple(to_numpy(std::move(first)), to_numpy(std::move(second)), to_numpy(std::move(counts)));
}

Discounts discounts_of(Given<double> values, const NgramTrie& trie) {
  if (values.shape(0) != 4 * trie.order()) throw nb::value_error("there must be four discounts per order");
  Discounts discounts(trie.order());
  for (std::size_t place = 0; place < values.shape(0); ++place) discounts[place / 4][place % 4] = values.data()[place];
  return discounts;
}

void prune(CountedNgrams& counted, Given<double> discounts, Given<double> unigram, double room, double bytes_per_ngram,
           double bytes_per_backoff, bool alone) {
  if (unigram.shape(0) != counted.trie.vocabulary()) throw nb::value_error("there must be one probability per piece");
  const Discounts each = discounts_of(discounts, counted.trie);
  const nb::gil_scoped_release release;
  const Workers workers = interruptible(counted.threads);
  Losses losses = losses_of(counted.trie, each, span_of(unigram), workers);
  keep_most(counted.trie, std::move(losses), {room, bytes_per_ngram, bytes_per_backoff, alone}, workers);
}

/// Work out the backoffs of the contexts below the order `top`; returns the total of each key, from −32768 on, and of
/// contexts with one child apart, by their order: the same and how many there are.
nb::tuple backoffs(CountedNgrams& counted, std::size_t top, Given<double> discounts, bool alone) {
  const Discounts each = discounts_of(discounts, counted.trie);
  if (top > counted.trie.order()) throw nb::value_error("no n-gram has so many pieces");
  {
    const nb::gil_scoped_release release;
    counted.backoffs = backoff_keys(counted.trie, top, each, alone, interruptible(counted.threads));
  }
  nb::list only;
  for (const BackoffKeys::Contexts& contexts : counted.backoffs.alone) {
    only.append(nb::make_tuple(to_numpy(contexts.masses), to_numpy(contexts.times)));
  }
  return nb::make_tuple(to_numpy(counted.backoffs.all.masses), only);
}

using GivenCodes = std::vector<std::pair<Given<std::uint64_t>, Given<std::uint32_t>>>;

nb::dict arrays(const CountedNgrams& counted, unsigned bits, bool wide, const GivenCodes& gains,
                Given<std::uint8_t> backoffs, const std::vector<Given<std::uint8_t>>& alone) {
  const auto is_whole = [](const Given<std::uint8_t>& codes) { return codes.shape(0) == BackoffKeys::size; };
  if (gains.size() != counted.backoffs.keys.size() || alone.size() != counted.backoffs.alone.size() ||
      !is_whole(backoffs) || !std::all_of(alone.begin(), alone.end(), is_whole)) {
    throw nb::value_error("there must be the codes of all gains and backoffs");
  }
  MemoryCodes codes{bits, wide, {}, {backoffs.data(), backoffs.data() + backoffs.shape(0)}};
  for (const auto& [counts, each] : gains) codes.gains.emplace_back(span_of(counts), span_of(each));
  for (const Given<std::uint8_t>& each : alone) codes.alone.emplace_back(each.data(), each.data() + each.shape(0));
  std::vector<NamedArray> found;
  {
    const nb::gil_scoped_release release;
    const Workers workers = interruptible(counted.threads);
    found = memory_arrays(counted.trie, gains.size() + 1, counted.backoffs, codes, workers);
  }
  nb::dict result;
  for (NamedArray& array : found) {
    const std::vector<std::uint8_t> data = std::move(array.data);
    result[array.name.c_str()] = nb::make_tuple(array.dtype, nb::bytes(data.data(), data.size()));
  }
  return result;
}

}  // namespace

void bind_training(nb::module_& module) {
  nb::class_<CountedNgrams>(module, "CountedNgrams", "All n-grams of a corpus; `training/counted.py` tells what for.")
      .def_prop_ro("order", [](const CountedNgrams& counted) { return counted.trie.order(); })
      .def_prop_ro("in_files", [](const CountedNgrams& counted) { return counted.trie.scratch().in_files(); })
      .def("size", [](const CountedNgrams& counted, std::size_t order) { return counted.trie.level(order).size; })
      .def("adjust", &adjust)
      .def("times", &times, "order"_a, "The adjusted counts of the n-grams kept, and how many have each.")
      .def("unigram_counts", &unigram_counts)
      .def("pairs", &pairs)
      .def("keep_allowed", [](CountedNgrams& counted) { keep_allowed(counted.trie); })
      .def("prune", &prune, "discounts"_a, "unigram"_a, "room"_a, "bytes_per_ngram"_a, "bytes_per_backoff"_a, "alone"_a)
      .def("backoffs", &backoffs, "top"_a, "discounts"_a, "alone"_a)
      .def("arrays", &arrays, "bits"_a, "wide"_a, "gains"_a, "backoffs"_a, "alone"_a);
  nb::class_<Counting>(module, "NgramCounter", "Counts n-grams of queries that come in batches.")
      .def(nb::init<unsigned, std::size_t, PieceId, PieceId, std::uint64_t, std::string, std::size_t, std::size_t>(),
           "order"_a, "vocabulary"_a, "begin"_a, "end"_a, "least_count"_a, "folder"_a, "memory"_a, "threads"_a = 0)
      .def("add_texts", &Counting::add_texts, "segmenter"_a, "texts"_a, "counts"_a)
      .def("add_columns", &Counting::add_columns, "segmenter"_a, "text"_a, "begins"_a, "counts"_a)
      .def("add_pieces", &Counting::add_pieces, "pieces"_a, "lengths"_a, "counts"_a)
      .def("add_windows", &Counting::add_windows, "pieces"_a, "lengths"_a, "counts"_a)
      .def("finish", &Counting::finish);
}

}  // namespace halfword
