#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/map.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/string_view.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <tuple>

#include "bindings/arrays.h"
#include "bindings/tables.h"
#include "bindings/training.h"
#include "completer.h"
#include "lm/kernels/yardstick.h"
#include "lm/ngram.h"
#include "rank/duplicates.h"
#include "rank/policy_fields.h"
#include "search/parallel.h"
#include "search/starts.h"
#include "sources/companions.h"
#include "sources/spellings.h"
#include "store/live.h"
#include "store/model_file.h"
#include "store/popular.h"
#include "text/escape.h"
#include "text/fold.h"
#include "text/words.h"

namespace nb = nanobind;
using namespace nb::literals;

namespace halfword {
namespace {

nb::str name_of(Origin source) {
  static constexpr const char* names[] = {"popular", "model", "both", "session"};
  return nb::steal<nb::str>(PyUnicode_InternFromString(names[static_cast<int>(source)]));
}

/// The characters in the first bytes of a text.
std::size_t characters_in(std::string_view text, std::size_t bytes) {
  return static_cast<std::size_t>(characters_from(text, 0) - characters_from(text, std::min(bytes, text.size())));
}

/// A text for Python. A damaged file may hold bytes that are not text; they must not become an error in the middle of
/// an answer.
PyObject* text_of(const std::string& text) {
  return PyUnicode_DecodeUTF8(text.data(), static_cast<Py_ssize_t>(text.size()), "replace");
}

/// A Python `Completion`, which is a tuple: filled in where it was allocated, without a call into Python.
nb::object to_python(const Completion& completion, nb::handle type) {
  auto* kind = reinterpret_cast<PyTypeObject*>(type.ptr());
  PyObject* made = kind->tp_alloc(kind, 6);
  if (made == nullptr) throw nb::python_error();
  PyTuple_SET_ITEM(made, 0, text_of(completion.text));
  PyTuple_SET_ITEM(made, 1, PyFloat_FromDouble(completion.score));
  PyTuple_SET_ITEM(made, 2, name_of(completion.source).release().ptr());
  PyTuple_SET_ITEM(made, 3,
                   completion.display.empty() ? Py_XNewRef(PyTuple_GET_ITEM(made, 0)) : text_of(completion.display));
  PyTuple_SET_ITEM(made, 4, Py_NewRef(completion.corrected ? Py_True : Py_False));
  PyTuple_SET_ITEM(made, 5, PyLong_FromSize_t(characters_in(completion.text, completion.matched)));
  return nb::steal(made);
}

nb::list to_python(const std::vector<Completion>& completions, nb::handle type) {
  nb::list list;
  for (const Completion& completion : completions) list.append(to_python(completion, type));
  return list;
}

/// A Python pair: the completions, and whether the deadline cut the search short.
nb::tuple to_python(const Answer& answer, nb::handle type) {
  return nb::make_tuple(to_python(answer.completions, type), answer.timed_out);
}

/// The earlier queries of one session, the oldest first.
using Context = std::vector<std::string>;

nb::tuple complete(const Completer& completer, std::string typed, const SearchOptions& options, nb::handle type,
                   Context context) {
  Answer answer;
  {
    nb::gil_scoped_release release;
    answer = completer.complete({std::move(typed), options, std::move(context)});
  }
  return to_python(answer, type);
}

/// One request of a batch; without contexts it has none.
Request request_of(const std::vector<std::string>& prefixes, const std::vector<Context>& contexts, std::size_t place,
                   const SearchOptions& options) {
  return {prefixes[place], options, place < contexts.size() ? contexts[place] : Context{}};
}

nb::list complete_batch(const Completer& completer, const std::vector<std::string>& prefixes,
                        const SearchOptions& options, std::size_t threads, nb::handle type,
                        const std::vector<Context>& contexts) {
  std::vector<Answer> answers(prefixes.size());
  {
    nb::gil_scoped_release release;
    // In the order of their texts, for what one prefix has read is near at hand for the next.
    std::vector<std::size_t> order(prefixes.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    std::sort(order.begin(), order.end(),
              [&](std::size_t left, std::size_t right) { return prefixes[left] < prefixes[right]; });
    parallel_for(prefixes.size(), threads, [&](std::size_t i) {
      answers[order[i]] = completer.complete(request_of(prefixes, contexts, order[i], options));
    });
  }
  nb::list list;
  for (const Answer& answer : answers) list.append(to_python(answer, type));
  return list;
}

/// Changes as Python gives them: (kind, text, number, prefix), the kind by its place in LiveChange::Kind.
using ChangeFields = std::tuple<int, std::string, double, std::string>;

void apply_changes(const Completer& completer, std::vector<ChangeFields> given, double scale, bool publish) {
  nb::gil_scoped_release release;
  std::vector<LiveChange> changes;
  changes.reserve(given.size());
  for (auto& [kind, text, number, prefix] : given) {
    const bool sound = kind >= 0 && kind <= static_cast<int>(LiveChange::Kind::unpin) && !text.empty() &&
                       text.size() <= LiveState::longest_text && std::isfinite(number);
    if (!sound) throw std::invalid_argument("a live change makes no sense");
    changes.push_back({static_cast<LiveChange::Kind>(kind), std::move(text), number, std::move(prefix)});
  }
  completer.live().apply(changes, scale, publish);
}

/// The changed queries after a text: (text, typed, weight, boost, count in the log, count).
nb::list changed_queries(const Completer& completer, const std::string& after, std::size_t most) {
  nb::list list;
  const std::shared_ptr<const LiveState> state = completer.live().state();
  if (!state) return list;
  state->queries.visit(std::string(after).append(1, '\0'), {}, [&](const LiveQueries::Node& node) {
    if (nb::len(list) == most) return false;
    const LiveQuery& query = node.value;
    list.append(nb::make_tuple(std::string(node.text()), query.typed, query.weight, query.boost, query.logged,
                               query.count() * state->scale));
    return true;
  });
  return list;
}

/// (changed queries, removals, bytes of memory).
nb::tuple live_size(const Completer& completer) {
  const std::shared_ptr<const LiveState> state = completer.live().state();
  if (!state) return nb::make_tuple(0, 0, 0);
  return nb::make_tuple(state->queries.size(), state->removed.size(), state->bytes());
}

bool removes(const Completer& completer, std::string_view text) {
  const std::shared_ptr<const LiveState> state = completer.live().state();
  return state && state->removes(text);
}

/// What one answer took: (pieces read, pieces of the longest hypothesis, rows, timed out, multiplications).
nb::tuple search_cost(const Completer& completer, const std::string& typed, const SearchOptions& options) {
  const Answer answer = completer.complete({typed, options});
  return nb::make_tuple(answer.cost.pieces_read, answer.cost.longest, answer.cost.rows, answer.timed_out,
                        answer.cost.multiplications);
}

/// What the sources propose for one reading, for Python: the texts, their features as 32-bit floats, the evidence for
/// each, and facts about the prefix.
nb::tuple to_python(const Completer& completer, const Branch& offer) {
  nb::list texts;
  nb::list evidence;
  for (const Proposal& each : offer.proposals.list()) {
    texts.append(each.text);
    evidence.append(nb::make_tuple(each.count, each.searched ? nb::cast(each.model_score) : nb::none(), each.companions,
                                   each.spellings, completer.is_odd(each)));
  }
  const PrefixFacts& facts = offer.proposals.facts;
  return nb::make_tuple(texts, to_bytes(offer.features), evidence,
                        nb::make_tuple(facts.total, facts.distinct, facts.longer_total, facts.longer_distinct));
}

/// The readings of every prefix, with what was proposed for each.
std::vector<std::vector<Branch>> branches_of(const Completer& completer, const std::vector<std::string>& prefixes,
                                             const SearchOptions& options, std::size_t threads,
                                             const std::vector<Context>& contexts) {
  std::vector<std::vector<Branch>> all(prefixes.size());
  nb::gil_scoped_release release;
  parallel_for(prefixes.size(), threads,
               [&](std::size_t i) { all[i] = completer.branches(request_of(prefixes, contexts, i, options)); });
  return all;
}

nb::list propose_batch(const Completer& completer, const std::vector<std::string>& prefixes,
                       const SearchOptions& options, std::size_t threads, const std::vector<Context>& contexts) {
  nb::list list;
  for (const auto& branches : branches_of(completer, prefixes, options, threads, contexts)) {
    list.append(to_python(completer, branches.front()));
  }
  return list;
}

/// The corrections of every prefix, itself first: (text, features of belief, completions, their log-probabilities).
nb::list read_batch(const Completer& completer, const std::vector<std::string>& prefixes, const SearchOptions& options,
                    std::size_t threads) {
  nb::list list;
  for (const auto& branches : branches_of(completer, prefixes, options, threads, {})) {
    nb::list readings;
    for (const Branch& branch : branches) {
      nb::list texts;
      for (const Proposal& each : branch.proposals.list()) texts.append(each.text);
      const BeliefFeatures features = belief_features(branches.front(), branch);
      readings.append(nb::make_tuple(branch.reading.text, std::vector<double>(features.begin(), features.end()), texts,
                                     branch.chances.scores));
    }
    list.append(readings);
  }
  return list;
}

/// What a single source proposes for a prefix after which nothing was typed.
template <typename Opinion>
std::vector<std::pair<std::string, double>> likely_texts(const Source& source, const std::string& prefix,
                                                         const Policy& policy, Opinion opinion) {
  const Reading reading{prefix};
  const SearchOptions options{};
  Proposals proposals;
  source.propose({reading, {&reading, 1}, options, policy, Deadline(0.0), Session({})}, proposals);
  std::vector<std::pair<std::string, double>> found;
  for (const Proposal& each : proposals.list()) found.emplace_back(each.text, each.*opinion);
  return found;
}

nb::dict popular_arrays(std::vector<std::pair<std::string, std::uint32_t>> queries) {
  PopularArrays arrays;
  {
    nb::gil_scoped_release release;
    arrays = build_popular(std::move(queries));
  }
  NamedArrays named;
  named.add("popular.", arrays);
  return named.result();
}

nb::dict word_tree_arrays(const std::vector<std::pair<std::string, std::uint32_t>>& words) {
  NamedArrays named;
  named.add("words.tree.", build_word_tree(words));
  return named.result();
}

nb::dict lexicon_arrays(std::vector<std::string> words) {
  std::sort(words.begin(), words.end());
  words.erase(std::unique(words.begin(), words.end()), words.end());
  const std::vector<std::string_view> views(words.begin(), words.end());
  NamedArrays named;
  named.add_lexicon(build_sorted_texts(views), words.size());
  return named.result();
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
        std::string text = spell(pieces, escaped, tail, chosen);
        spelled[i].push_back({std::move(text), scores.data()[place], Origin::model, false, prefixes[i].size()});
      }
      std::sort(spelled[i].begin(), spelled[i].end(), comes_first);
    });
  }
  nb::list lists;
  for (const std::vector<Completion>& completions : spelled) {
    nb::list list;
    for (const Completion& completion : completions) list.append(to_python(completion, type));
    lists.append(std::move(list));
  }
  return lists;
}

/// How network and memory see every piece of a query: (buckets, the network's probabilities, the memory's).
nb::tuple view(const Completer& completer, std::string_view query) {
  const ModelSearch& search = completer.language_model();
  std::vector<std::uint32_t> buckets;
  std::vector<float> network;
  std::vector<float> memory;
  {
    nb::gil_scoped_release release;
    for (const TokenView& token : search.model().view(search.pieces().segment(escape(query)))) {
      buckets.push_back(token.bucket);
      network.push_back(token.network);
      memory.push_back(token.memory);
    }
  }
  return nb::make_tuple(buckets, network, memory);
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

/// The likeliest of the allowed pieces after these, at least as likely as asked for: what a search of the memory sees.
std::vector<std::pair<PieceId, float>> ngram_likely(const Ngram& ngram, const std::vector<PieceId>& pieces,
                                                    const std::vector<PieceId>& allowed, float least,
                                                    std::size_t most) {
  check_pieces(ngram, pieces);
  check_pieces(ngram, allowed);
  NgramState state = ngram.start();
  for (const PieceId piece : pieces) state = ngram.advance(state, piece);
  std::vector<std::uint8_t> choices(ngram.vocabulary());
  for (const PieceId piece : allowed) choices[piece] = 1;
  NgramScratch scratch;
  scratch.likely.reset(least, most);
  ngram.find_likely(state, choices, 1, scratch);
  std::vector<std::pair<PieceId, float>> found;
  for (const LikelyPiece& each : scratch.likely.found()) found.emplace_back(each.piece, each.value);
  return found;
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

/// The state of the network in 8 bits after it read `pieces`, as `kernels` compute it: what they are tested by.
nb::bytes network_state(const ModelFile& file, const std::vector<PieceId>& pieces, const std::string& kernels) {
  const Lstm network(file, Pieces(file).size(), Precision::int8, kernels_named(kernels));
  StateRows from;
  StateRows to;
  LstmScratch scratch;
  network.start(from);
  for (const PieceId piece : pieces) {
    const Step step{0, piece};
    network.step(from, {&step, 1}, to, 0, scratch);
    std::swap(from, to);
  }
  std::vector<float> numbers(from.cells.begin(), from.cells.end());
  numbers.insert(numbers.end(), from.steps.begin(), from.steps.end());
  numbers.insert(numbers.end(), from.bytes.begin(), from.bytes.end());
  return to_bytes(numbers);
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
      .def_rw("beam", &SearchOptions::beam)
      .def_rw("retrace", &SearchOptions::retrace)
      .def_rw("segmentations", &SearchOptions::segmentations)
      .def_rw("max_pieces", &SearchOptions::max_pieces)
      .def_rw("merge", &SearchOptions::merge)
      .def_rw("prune", &SearchOptions::prune)
      .def_rw("conditional", &SearchOptions::conditional)
      .def_rw("echo", &SearchOptions::echo)
      .def_rw("fold", &SearchOptions::fold)
      .def_rw("typos", &SearchOptions::typos)
      .def_rw("any_order", &SearchOptions::any_order)
      .def_rw("haste", &SearchOptions::haste)
      .def_rw("adapt", &SearchOptions::adapt)
      .def_rw("min_probability", &SearchOptions::min_probability)
      .def_prop_rw(
          "invent", [](const SearchOptions& options) { return static_cast<int>(options.invent); },
          [](SearchOptions& options, int value) { options.invent = static_cast<Invent>(std::clamp(value, 0, 2)); })
      .def_rw("deadline_ms", &SearchOptions::deadline_ms);

  auto policy = nb::class_<Policy>(module, "Policy", "Which sources are asked, how hard, and what is shown.");
  policy.def(nb::init<>());
  for (const PolicyField& field : policy_fields) policy.def_rw(field.name, field.value);

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

  nb::class_<Completer>(module, "Completer", "A model file that completes.")
      .def(
          "__init__",
          [](Completer* place, const ModelFile& file, const Policy& policy, bool popular, bool memory, bool network,
             bool int8, const std::string& kernels, std::size_t states, std::size_t answers) {
            const Precision precision = int8 ? Precision::int8 : Precision::float32;
            const nb::gil_scoped_release release;  // a server loads a new model while the old one answers
            new (place) Completer(file, policy, {popular, memory, network, precision, kernels, {states, answers}});
          },
          "file"_a, "policy"_a, "popular"_a, "memory"_a, "network"_a, "int8"_a, "kernels"_a, "cached_states"_a,
          "cached_answers"_a, nb::keep_alive<1, 2>())
      .def("complete", &complete, "prefix"_a, "options"_a, "type"_a, "context"_a = Context{})
      .def("complete_batch", &complete_batch, "prefixes"_a, "options"_a, "threads"_a, "type"_a,
           "contexts"_a = std::vector<Context>{})
      .def(
          "corrections",
          [](const Completer& completer, std::string typed, const SearchOptions& options) {
            nb::list found;
            for (const Reading& each : completer.corrections_of({std::move(typed), options})) {
              found.append(nb::make_tuple(each.text, each.log_probability, each.edits, each.spaces, each.gain,
                                          each.word_gain, each.known, each.known_gain, each.begun, each.after,
                                          each.total, each.typed_total, each.letters, each.typed_count, each.changed,
                                          each.endings, each.others, each.typed_others));
            }
            return found;
          },
          "prefix"_a, "options"_a, "The fields of a Correction (`search/reference_corrections.py`), in its order.")
      .def("search_cost", &search_cost, "prefix"_a, "options"_a)
      .def("apply_changes", &apply_changes, "changes"_a, "scale"_a, "publish"_a = true)
      .def(
          "clear_changes", [](const Completer& completer, bool publish) { completer.live().clear(publish); },
          "publish"_a = true)
      .def("changed_queries", &changed_queries, "after"_a, "most"_a)
      .def("live_size", &live_size)
      .def("removes", &removes, "text"_a)
      .def("count_of", &Completer::count_of, "query"_a)
      .def("propose_batch", &propose_batch, "prefixes"_a, "options"_a, "threads"_a,
           "contexts"_a = std::vector<Context>{})
      .def("read_batch", &read_batch, "prefixes"_a, "options"_a, "threads"_a)
      .def(
          "segment",
          [](const Completer& completer, std::string_view query) {
            return completer.language_model().pieces().segment(escape(query));
          },
          "query"_a)
      .def(
          "segment_best",
          [](const Completer& completer, std::string_view escaped, std::size_t count) {
            return completer.language_model().pieces().segment_best(escaped, count);
          },
          "escaped"_a, "count"_a)
      .def("view", &view, "query"_a)
      .def_prop_ro("kernels", [](const Completer& each) { return each.language_model().model().kernels().name; })
      .def_prop_ro("multiplications",
                   [](const Completer& each) { return each.language_model().model().multiplications(); })
      .def("__len__", &Completer::queries);

  nb::class_<Popular>(module, "Popular", "The popularity index of a model file.")
      .def(nb::init<const ModelFile&>(), "file"_a, nb::keep_alive<1, 2>());

  nb::class_<Ngram>(module, "Ngram", "The n-gram memory of a model file.")
      .def(nb::init<const ModelFile&>(), "file"_a, nb::keep_alive<1, 2>())
      .def("predict", &ngram_predict, "pieces"_a, "The probability of each piece after these.")
      .def("list_likely", &Ngram::list_likely, "List the likeliest pieces after each, which makes `likely` faster.")
      .def("likely", &ngram_likely, "pieces"_a, "allowed"_a, "least"_a, "most"_a,
           "The likeliest allowed pieces after these with their probabilities, `most` of them at most, in any order.")
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
      .def(
          "complete",
          [](const Companions& source, const std::string& prefix, const Policy& policy) {
            return likely_texts(source, prefix, policy, &Proposal::companions);
          },
          "prefix"_a, "policy"_a)
      .def("is_apart", &Companions::is_apart, "text"_a, "matched"_a, "policy"_a)
      .def("is_unfinished", &Companions::is_unfinished, "text"_a, "policy"_a);
  nb::class_<Spellings>(module, "Spellings", "The same query in another spelling.")
      .def(nb::init<const ModelFile&, const Popular&>(), "file"_a, "popular"_a, nb::keep_alive<1, 2>(),
           nb::keep_alive<1, 3>())
      .def(
          "complete",
          [](const Spellings& source, const std::string& prefix, const Policy& policy) {
            return likely_texts(source, prefix, policy, &Proposal::spellings);
          },
          "prefix"_a, "policy"_a);
  module.def("belief_names", [] { return std::vector<std::string>(belief_names.begin(), belief_names.end()); });
  module.def("feature_names", [] { return std::vector<std::string>(feature_names.begin(), feature_names.end()); });
  module.def(
      "parallel_for",
      [](std::size_t size, std::size_t threads, const nb::callable& work) {
        nb::gil_scoped_release release;
        parallel_for(size, threads, [&](std::size_t i) {
          nb::gil_scoped_acquire acquire;
          work(i);
        });
      },
      "size"_a, "threads"_a, "work"_a,
      "Call `work` as a batch calls the search: what the handling of errors is tested by.");
  module.attr("PREFIX_FEATURES") = prefix_features;
  module.attr("KNOWN_WHEN_COMPLETED") = nb::make_tuple(first_completed, after_completed);
  module.def("fold_keys", &fold_keys, "text"_a, "The keys of a normalised text.");
  module.def("covered_by", &covered_by, "text"_a, "key"_a,
             "How many bytes of a text stand for a key, if it begins so.");
  module.def(
      "word_filter", [](const std::vector<std::string_view>& words) { return to_bytes(build_word_filter(words)); },
      "words"_a, "The array of a filter that knows these words.");
  module.def("word_tree_arrays", &word_tree_arrays, "words"_a, "The arrays of a tree of (word, count) pairs.");
  module.def("lexicon_arrays", &lexicon_arrays, "words"_a, "The arrays of a list of these words.");
  module.def(
      "words_in",
      [](std::string_view text) {
        std::vector<std::string> words;
        visit_words(text, [&](std::string_view word) { words.emplace_back(word); });
        return words;
      },
      "text"_a, "The words of a text.");
  module.def("plain_form", &plain_form, "text"_a, "What near-duplicates of a text have in common with it.");
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
  module.def("network_state", &network_state, "file"_a, "pieces"_a, "kernels"_a);
  module.def("popular_arrays", &popular_arrays, "queries"_a, "The arrays of an index over (query, count) pairs.");
  bind_tables(module);
  bind_training(module);
}

}  // namespace halfword
