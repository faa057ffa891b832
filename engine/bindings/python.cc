#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/map.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/string_view.h>
#include <nanobind/stl/vector.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "rank/blend.h"
#include "sources/companions.h"
#include "text/escape.h"
#include "store/model_file.h"
#include "lm/neural.h"
#include "lm/ngram.h"
#include "search/parallel.h"
#include "store/popular.h"
#include "sources/spellings.h"
#include "search/starts.h"
#include "lm/kernels/yardstick.h"

namespace nb = nanobind;
using namespace nb::literals;

namespace halfword {
namespace {

nb::str name_of(Source source) {
  static constexpr const char* names[] = {"popular", "model", "both"};
  return nb::steal<nb::str>(PyUnicode_InternFromString(names[static_cast<int>(source)]));
}

/// A Python `Completion`, which is a tuple: made as `tuple.__new__` makes it, without a call into Python.
nb::object to_python(const Completion& completion, nb::handle type) {
  // A damaged file may hold bytes that are not text; they must not become an error in the middle of an answer.
  const auto size = static_cast<Py_ssize_t>(completion.text.size());
  const nb::object text = nb::steal(PyUnicode_DecodeUTF8(completion.text.data(), size, "replace"));
  const nb::tuple fields = nb::make_tuple(text, completion.score, name_of(completion.source));
  const nb::tuple arguments = nb::make_tuple(fields);
  return nb::steal(PyTuple_Type.tp_new(reinterpret_cast<PyTypeObject*>(type.ptr()), arguments.ptr(), nullptr));
}

nb::list to_python(const std::vector<Completion>& completions, nb::handle type) {
  nb::list list;
  for (const Completion& completion : completions) list.append(to_python(completion, type));
  return list;
}

std::vector<Completion> completions_of(const Popular& popular, std::string_view prefix, const SearchOptions& options) {
  return popular.complete(prefix, options.count, options.echo);
}

std::vector<Completion> completions_of(const Neural& neural, std::string_view prefix, const SearchOptions& options) {
  return neural.complete(prefix, options).completions;
}

std::vector<Completion> completions_of(const Blend& blend, std::string_view prefix, const SearchOptions& options) {
  return blend.complete(prefix, options).completions;
}

template <typename Model>
nb::list complete(const Model& model, std::string_view prefix, const SearchOptions& options, nb::handle type) {
  std::vector<Completion> found;
  {
    nb::gil_scoped_release release;
    found = completions_of(model, prefix, options);
  }
  return to_python(found, type);
}

template <typename Model>
nb::list complete_batch(const Model& model, const std::vector<std::string>& prefixes, const SearchOptions& options,
                        std::size_t threads, nb::handle type) {
  std::vector<std::vector<Completion>> found(prefixes.size());
  {
    nb::gil_scoped_release release;
    parallel_for(prefixes.size(), threads,
                 [&](std::size_t i) { found[i] = completions_of(model, prefixes[i], options); });
  }
  nb::list lists;
  for (const std::vector<Completion>& completions : found) lists.append(to_python(completions, type));
  return lists;
}

/// What one search took: (cells, steps, rows, whether it ended in time, multiplications).
template <typename Model>
nb::tuple search_cost(const Model& model, std::string_view prefix, const SearchOptions& options) {
  const SearchResult result = model.complete(prefix, options);
  return nb::make_tuple(result.cells, result.steps, result.rows, result.in_time, result.multiplications);
}

/// What both sides of a blend propose: ([(text, count, score)], total, distinct).
nb::tuple candidates(const Blend& blend, std::string_view prefix, const SearchOptions& options) {
  Candidates all;
  {
    nb::gil_scoped_release release;
    all = blend.candidates(prefix, options);
  }
  nb::list list;
  for (const Candidate& candidate : all.list) {
    list.append(nb::make_tuple(candidate.text, candidate.count, candidate.score));
  }
  return nb::make_tuple(list, all.total, all.distinct);
}

template <typename Knowledge>
std::vector<std::pair<std::string, double>> likely_texts(const Knowledge& knowledge, std::string_view prefix,
                                                         std::size_t count) {
  std::vector<std::pair<std::string, double>> found;
  for (LikelyText& each : knowledge.complete(prefix, count)) found.emplace_back(std::move(each.text), each.probability);
  return found;
}

template <typename T>
nb::bytes to_bytes(const std::vector<T>& values) {
  return nb::bytes(values.data(), values.size() * sizeof(T));
}

nb::dict popular_arrays(std::vector<std::pair<std::string, std::uint32_t>> queries) {
  PopularArrays arrays;
  {
    nb::gil_scoped_release release;
    arrays = build_popular(std::move(queries));
  }
  nb::dict result;
  result["popular.text"] = nb::make_tuple("U8", to_bytes(arrays.text));
  result["popular.bucket_begin"] = nb::make_tuple("U32", to_bytes(arrays.bucket_begin));
  result["popular.count"] = nb::make_tuple("U32", to_bytes(arrays.count));
  result["popular.block_max"] = nb::make_tuple("U32", to_bytes(arrays.block_max));
  result["popular.block_sum"] = nb::make_tuple("U64", to_bytes(arrays.block_sum));
  result["popular.range_max"] = nb::make_tuple("U32", to_bytes(arrays.range_max));
  return result;
}

/// Numbers as a NumPy array that owns them.
nb::object to_array(std::vector<std::int32_t> values) {
  auto* kept = new std::vector<std::int32_t>(std::move(values));  // the capsule deletes it with the array
  const nb::capsule owner(kept,
                          [](void* pointer) noexcept { delete static_cast<std::vector<std::int32_t>*>(pointer); });
  return nb::cast(nb::ndarray<nb::numpy, std::int32_t, nb::ndim<1>>(kept->data(), {kept->size()}, owner));
}

nb::tuple start_tree(const Pieces& pieces, const std::vector<std::string>& prefixes, const SearchOptions& options,
                     std::size_t threads) {
  StartTree tree;
  {
    nb::gil_scoped_release release;
    tree = find_start_tree(pieces, prefixes, options, threads);
  }
  return nb::make_tuple(
      to_array(std::move(tree.level_ends)), to_array(std::move(tree.parents)), to_array(std::move(tree.pieces)),
      to_array(std::move(tree.prefixes)), to_array(std::move(tree.nodes)), to_array(std::move(tree.tails)),
      to_array(std::move(tree.firsts)), to_array(std::move(tree.lasts)), to_array(std::move(tree.kinds)));
}

template <typename T, std::size_t dimensions>
using Numbers = nb::ndarray<const T, nb::ndim<dimensions>, nb::c_contig, nb::device::cpu>;

/// A Python `Completion`, filled in where it was allocated: twice as fast as `to_python`, which counts for millions.
nb::object fill_completion(const Completion& completion, const nb::str& source, nb::handle type) {
  auto* kind = reinterpret_cast<PyTypeObject*>(type.ptr());
  PyObject* made = kind->tp_alloc(kind, 3);
  if (made == nullptr) throw nb::python_error();
  const auto size = static_cast<Py_ssize_t>(completion.text.size());
  PyTuple_SET_ITEM(made, 0, PyUnicode_DecodeUTF8(completion.text.data(), size, "replace"));
  PyTuple_SET_ITEM(made, 1, PyFloat_FromDouble(completion.score));
  PyTuple_SET_ITEM(made, 2, nb::object(source).release().ptr());
  return nb::steal(made);
}

/// The completions of every prefix, those with a finite score alone.
nb::list spell_batch(const Pieces& pieces, const std::vector<std::string>& prefixes, Numbers<float, 2> scores,
                     Numbers<std::int32_t, 2> tails, Numbers<std::int32_t, 3> reversed, nb::handle type) {
  const std::size_t count = scores.shape(1);
  const std::size_t depth = reversed.shape(2);
  std::vector<std::vector<Completion>> spelled(prefixes.size());
  {
    nb::gil_scoped_release release;
    parallel_for(prefixes.size(), 0, [&](std::size_t i) {
      const std::string escaped = escape(prefixes[i]);
      for (std::size_t place = i * count; place < (i + 1) * count; ++place) {
        if (!std::isfinite(scores.data()[place])) continue;
        const std::span chosen(reversed.data() + place * depth, depth);
        const auto tail = static_cast<std::size_t>(tails.data()[place]);
        spelled[i].push_back({spell(pieces, escaped, tail, chosen), scores.data()[place], Source::model});
      }
      std::sort(spelled[i].begin(), spelled[i].end(), comes_first);
    });
  }
  const nb::str source = name_of(Source::model);
  nb::list lists;
  for (const std::vector<Completion>& completions : spelled) {
    nb::list list;
    for (const Completion& completion : completions) list.append(fill_completion(completion, source, type));
    lists.append(std::move(list));
  }
  return lists;
}

void check_pieces(const Ngram& ngram, const std::vector<PieceId>& pieces) {
  for (const PieceId piece : pieces) {
    if (piece >= ngram.vocabulary()) throw nb::index_error("no such piece");
  }
}

/// Read pieces one by one, and tell what `look` sees in the state before each of them.
template <typename Look>
auto before_each(const Ngram& ngram, const std::vector<PieceId>& pieces, const Look& look) {
  check_pieces(ngram, pieces);
  std::vector<decltype(look(ngram.start(), PieceId{}))> seen;
  NgramState state = ngram.start();
  for (const PieceId piece : pieces) {
    seen.push_back(look(state, piece));
    state = ngram.advance(state, piece);
  }
  return seen;
}

std::vector<float> ngram_predict(const Ngram& ngram, const std::vector<PieceId>& pieces) {
  check_pieces(ngram, pieces);
  NgramState state = ngram.start();
  for (const PieceId piece : pieces) state = ngram.advance(state, piece);
  std::vector<float> probabilities(ngram.vocabulary());
  ngram.predict(state, probabilities);
  return probabilities;
}

/// The product of row-major matrices with the kernels named: what the kernels are tested by.
nb::bytes multiply_int8(const std::string& kernels, nb::bytes weights, std::size_t outputs, nb::bytes inputs,
                        std::size_t rows) {
  const std::vector<float> scales(outputs, 1.0F);
  const Int8Matrix matrix({static_cast<const std::int8_t*>(weights.data()), weights.size()}, scales);
  const std::size_t width = inputs.size() / rows;
  AlignedVector<std::uint8_t> padded(rows * matrix.inputs);
  AlignedVector<std::int32_t> sums(rows * matrix.outputs);
  std::vector<std::int32_t> result;
  for (std::size_t row = 0; row < rows; ++row) {
    std::copy_n(static_cast<const std::uint8_t*>(inputs.data()) + row * width, width,
                padded.data() + row * matrix.inputs);
  }
  kernels_named(kernels).multiply_int8(matrix, padded.data(), rows, sums.data());
  for (std::size_t row = 0; row < rows; ++row) {
    const auto first = sums.begin() + static_cast<std::ptrdiff_t>(row * matrix.outputs);
    result.insert(result.end(), first, first + static_cast<std::ptrdiff_t>(outputs));
  }
  return to_bytes(result);
}

}  // namespace

NB_MODULE(_engine, module) {
  module.doc() = "The part of Halfword that runs at every keystroke.";
  nb::set_leak_warnings(false);  // what is still cached when Python exits is no leak, and no news for users
  nb::exception<ModelFileError>(module, "EngineFileError");

  nb::class_<ArrayPlace>(module, "ArrayPlace", "Where an array lies in a model file.")
      .def(nb::init<std::string, std::uint64_t, std::uint64_t>(), "dtype"_a, "begin"_a, "end"_a);
  nb::class_<ModelFile>(module, "ModelFile", "A model file mapped into memory.")
      .def(nb::init<const std::string&, std::map<std::string, ArrayPlace>>(), "path"_a, "places"_a);

  nb::class_<SearchOptions>(module, "SearchOptions", "How wide, how far back and how long to search.")
      .def(nb::init<>())
      .def_rw("count", &SearchOptions::count)
      .def_rw("surplus", &SearchOptions::surplus)
      .def_rw("beam", &SearchOptions::beam)
      .def_rw("retrace", &SearchOptions::retrace)
      .def_rw("segmentations", &SearchOptions::segmentations)
      .def_rw("max_pieces", &SearchOptions::max_pieces)
      .def_rw("merge", &SearchOptions::merge)
      .def_rw("prune", &SearchOptions::prune)
      .def_rw("conditional", &SearchOptions::conditional)
      .def_rw("echo", &SearchOptions::echo)
      .def_rw("haste", &SearchOptions::haste)
      .def_rw("most_read", &SearchOptions::most_read)
      .def_rw("adapt", &SearchOptions::adapt)
      .def_rw("min_probability", &SearchOptions::min_probability)
      .def_rw("deadline_ms", &SearchOptions::deadline_ms);

  nb::class_<Pieces>(module, "Segmenter", "Cuts queries into the pieces of a model file.")
      .def(nb::init<const ModelFile&>(), "file"_a, nb::keep_alive<1, 2>())
      .def(
          "segment_batch",
          [](const Pieces& pieces, const std::vector<std::string>& queries) {
            std::vector<std::vector<PieceId>> segmented;
            segmented.reserve(queries.size());
            for (const std::string& query : queries) segmented.push_back(pieces.segment(escape(query)));
            return segmented;
          },
          "queries"_a)
      .def("start_tree", &start_tree, "prefixes"_a, "options"_a, "threads"_a,
           "The fields of a StartTree, in its order.")
      .def("spell_batch", &spell_batch, "prefixes"_a, "scores"_a, "tails"_a, "reversed"_a, "type"_a);

  nb::class_<Neural>(module, "Neural", "The neural part of a model file.")
      .def(
          "__init__",
          [](Neural* place, const ModelFile& file, std::optional<bool> int8, const std::string& kernels,
             std::size_t states, std::size_t answers) {
            std::optional<Precision> precision;
            if (int8) precision = *int8 ? Precision::int8 : Precision::float32;
            new (place) Neural(file, precision, kernels, {states, answers});
          },
          "file"_a, "int8"_a.none(), "kernels"_a, "cached_states"_a, "cached_answers"_a, nb::keep_alive<1, 2>())
      .def("complete", &complete<Neural>, "prefix"_a, "options"_a, "type"_a)
      .def("complete_batch", &complete_batch<Neural>, "prefixes"_a, "options"_a, "threads"_a, "type"_a)
      .def("search_cost", &search_cost<Neural>, "prefix"_a, "options"_a)
      .def(
          "segment",
          [](const Neural& neural, std::string_view query) { return neural.pieces().segment(escape(query)); },
          "query"_a)
      .def(
          "segment_best",
          [](const Neural& neural, std::string_view escaped, std::size_t count) {
            return neural.pieces().segment_best(escaped, count);
          },
          "escaped"_a, "count"_a)
      .def(
          "view",
          [](const Neural& neural, std::string_view query) {
            std::vector<std::uint32_t> buckets;
            std::vector<float> network;
            std::vector<float> memory;
            {
              nb::gil_scoped_release release;
              for (const TokenView& token : neural.model().view(neural.pieces().segment(escape(query)))) {
                buckets.push_back(token.bucket);
                network.push_back(token.network);
                memory.push_back(token.memory);
              }
            }
            return nb::make_tuple(buckets, network, memory);
          },
          "query"_a)
      .def_prop_ro("kernels", [](const Neural& neural) { return neural.model().kernels().name; })
      .def_prop_ro("multiplications", [](const Neural& neural) { return neural.model().multiplications(); });

  nb::class_<Popular>(module, "Popular", "The popularity index of a model file.")
      .def(nb::init<const ModelFile&>(), "file"_a, nb::keep_alive<1, 2>())
      .def("complete", &complete<Popular>, "prefix"_a, "options"_a, "type"_a)
      .def("complete_batch", &complete_batch<Popular>, "prefixes"_a, "options"_a, "threads"_a, "type"_a)
      .def("__len__", &Popular::size);

  nb::class_<Ngram>(module, "Ngram", "The n-gram memory of a model file.")
      .def(nb::init<const ModelFile&>(), "file"_a, nb::keep_alive<1, 2>())
      .def("predict", &ngram_predict, "pieces"_a, "The probability of each piece after these.")
      .def(
          "probabilities",
          [](const Ngram& ngram, const std::vector<PieceId>& pieces) {
            return before_each(ngram, pieces,
                               [&](const NgramState& state, PieceId piece) { return ngram.probability(state, piece); });
          },
          "pieces"_a, "The probability of each of these pieces after those before it.")
      .def(
          "contexts",
          [](const Ngram& ngram, const std::vector<PieceId>& pieces) {
            return before_each(ngram, pieces, [](const NgramState& state, PieceId) {
              return std::pair(state.matched_order(), state.backoff());
            });
          },
          "pieces"_a, "What is known before each of these pieces: (matched order, backoff).")
      .def(
          "sums",
          [](const Ngram& ngram, const std::vector<PieceId>& pieces, std::size_t repeats) {
            std::vector<float> probabilities(ngram.vocabulary());
            return before_each(ngram, pieces, [&](const NgramState& state, PieceId) {
              for (std::size_t repeat = 0; repeat < repeats; ++repeat) ngram.predict(state, probabilities);
              return std::reduce(probabilities.begin(), probabilities.end());
            });
          },
          "pieces"_a, "repeats"_a = 1, "The sum of the distribution before each of these pieces, predicted repeatedly.")
      .def_prop_ro("order", &Ngram::order)
      .def("__len__", &Ngram::size);
  nb::class_<Companions>(module, "Companions", "Which words were typed together.")
      .def(nb::init<const ModelFile&>(), "file"_a, nb::keep_alive<1, 2>())
      .def("complete", &likely_texts<Companions>, "prefix"_a, "count"_a);
  nb::class_<Spellings>(module, "Spellings", "The same query in another spelling.")
      .def(nb::init<const ModelFile&, const Popular&>(), "file"_a, "popular"_a, nb::keep_alive<1, 2>(),
           nb::keep_alive<1, 3>())
      .def("complete", &likely_texts<Spellings>, "prefix"_a, "count"_a);
  nb::class_<Blend>(module, "Blend", "Popularity and the language model together.")
      .def(nb::init<const ModelFile&, const Popular&, const Neural&, const Neural*>(), "file"_a, "popular"_a,
           "neural"_a, "memory"_a.none(), nb::keep_alive<1, 2>(), nb::keep_alive<1, 3>(), nb::keep_alive<1, 4>(),
           nb::keep_alive<1, 5>())
      .def("complete", &complete<Blend>, "prefix"_a, "options"_a, "type"_a)
      .def("complete_batch", &complete_batch<Blend>, "prefixes"_a, "options"_a, "threads"_a, "type"_a)
      .def("search_cost", &search_cost<Blend>, "prefix"_a, "options"_a)
      .def("candidates", &candidates, "prefix"_a, "options"_a);
  module.def("available_kernels", [] {
    std::vector<std::string> names;
    for (const Kernels* kernels : available_kernels()) names.emplace_back(kernels->name);
    return names;
  });
  module.def(
      "multiply_rate",
      [](const std::string& kernels, std::size_t rows) {
        const MultiplyRate rate = measure_rate(kernels_named(kernels), rows);
        return nb::make_tuple(rate.int8, rate.float32);
      },
      "kernels"_a, "rows"_a);
  module.def("int8_peak", [](const std::string& kernels) { return measure_int8_peak(kernels_named(kernels)); });
  module.def("multiply_int8", &multiply_int8, "kernels"_a, "weights"_a, "outputs"_a, "inputs"_a, "rows"_a);
  module.def("popular_arrays", &popular_arrays, "queries"_a, "The arrays of an index over (query, count) pairs.");
}

}  // namespace halfword
