#include "bindings/tables.h"

#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/string_view.h>
#include <nanobind/stl/vector.h>

#include <span>
#include <stdexcept>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "bindings/arrays.h"
#include "store/word_counts.h"
#include "training/letter_order.h"
#include "training/mined_pairs.h"
#include "training/query_table.h"
#include "training/word_pairs.h"
#include "training/word_table.h"

namespace nb = nanobind;
using namespace nb::literals;

namespace halfword {
namespace {

/// The memory of a Python object, held while it is used.
class Buffer {
 public:
  explicit Buffer(nb::handle object) {
    if (PyObject_GetBuffer(object.ptr(), &view_, PyBUF_SIMPLE) != 0) throw nb::python_error();
  }
  Buffer(Buffer&& other) noexcept : view_(other.view_) { other.view_.obj = nullptr; }
  Buffer(const Buffer&) = delete;
  Buffer& operator=(const Buffer&) = delete;
  Buffer& operator=(Buffer&&) = delete;
  ~Buffer() { PyBuffer_Release(&view_); }

  template <typename T>
  std::span<const T> as() const {
    const auto size = static_cast<std::size_t>(view_.len);
    if (size % sizeof(T) != 0) throw std::invalid_argument("a column of a table has a broken length");
    return {static_cast<const T*>(view_.buf), size / sizeof(T)};
  }

  std::string_view text() const { return {static_cast<const char*>(view_.buf), static_cast<std::size_t>(view_.len)}; }

 private:
  Py_buffer view_{};
};

/// A column of texts that Python holds.
class Texts {
 public:
  Texts(nb::handle text, nb::handle begin) : text_(text), begin_(begin) { view().check(); }

  TextColumn view() const { return {text_.text(), begin_.as<std::uint64_t>()}; }

 private:
  Buffer text_;
  Buffer begin_;
};

/// A table that Python holds, as a tuple of its three columns.
class Table {
 public:
  explicit Table(const nb::tuple& columns) : queries_(columns[0], columns[1]), count_(columns[2]) { view().check(); }

  QueryTable view() const { return {queries_.view(), count_.as<std::uint64_t>()}; }

 private:
  Texts queries_;
  Buffer count_;
};

/// The order of the texts of a table, given by Python.
std::span<const std::uint32_t> checked_order(const Buffer& order, std::size_t size) {
  const std::span<const std::uint32_t> places = order.as<std::uint32_t>();
  bool sound = places.size() == size;
  for (const std::uint32_t place : places) sound = sound && place < size;
  if (!sound) throw std::invalid_argument("the order does not fit the table");
  return places;
}

/// A column of marks or numbers, one for each text.
template <typename T>
std::span<const T> checked_column(const Buffer& column, std::size_t size) {
  const std::span<const T> values = column.as<T>();
  if (values.size() != size) throw std::invalid_argument("a column does not fit the table");
  return values;
}

template <typename Work>
auto without_python(const Work& work) {
  nb::gil_scoped_release release;
  return work();
}

nb::bytes byte_order_of(nb::handle text, nb::handle begin) {
  const Texts texts(text, begin);
  return to_bytes(without_python([&] { return byte_order(texts.view()); }));
}

/// Finds texts in a column that is checked once.
class TextFinder {
 public:
  TextFinder(nb::handle text, nb::handle begin, nb::handle order)
      : texts_(text, begin), order_(order), sorted_(checked_order(order_, texts_.view().size())) {}

  std::size_t find(std::string_view text) const { return find_text(texts_.view(), sorted_, text); }

 private:
  Texts texts_;
  Buffer order_;
  std::span<const std::uint32_t> sorted_;
};

nb::tuple sum_tables(const std::vector<nb::tuple>& given) {
  std::vector<Table> tables;
  tables.reserve(given.size());
  for (const nb::tuple& columns : given) tables.emplace_back(columns);
  std::vector<QueryTable> views;
  for (const Table& table : tables) views.push_back(table.view());
  const OwnTable sum = without_python([&] { return sum_of(views); });
  return nb::make_tuple(to_bytes(sum.queries.text), to_bytes(sum.queries.begin), to_bytes(sum.count));
}

nb::dict index_arrays(const nb::tuple& columns, nb::handle order) {
  const Table table(columns);
  const Buffer places(order);
  const std::span<const std::uint32_t> sorted = checked_order(places, table.view().size());
  NamedArrays named;
  named.add("popular.", without_python([&] { return index_table(table.view(), sorted); }));
  const FoldedArrays folded = without_python([&] { return fold_table(table.view(), sorted); });
  if (folded.position.empty()) return named.result();
  named.add("popular.folded.", folded.keys);
  named.add("popular.folded.position", folded.position);
  return named.result();
}

nb::dict sorted_text_arrays(nb::handle text, nb::handle begin) {
  const Texts texts(text, begin);
  const TextColumn column = texts.view();
  std::vector<std::string_view> views(column.size());
  for (std::size_t place = 0; place < views.size(); ++place) views[place] = column.at(place);
  NamedArrays named;
  named.add("", without_python([&] { return build_sorted_texts(views); }));
  return named.result();
}

nb::tuple letter_arrays(const nb::tuple& columns, nb::handle order, nb::handle left_out, double share) {
  const Table table(columns);
  const Buffer places(order);
  const Buffer marks(left_out);
  const QueryTable view = table.view();
  const std::span<const std::uint32_t> sorted = checked_order(places, view.size());
  const std::span<const std::uint8_t> marked = checked_column<std::uint8_t>(marks, view.size());
  const auto positions = without_python([&] { return letter_order(view, sorted, marked); });
  return nb::make_tuple(to_bytes(positions), to_bytes(frequent_domain(view, share)));
}

nb::tuple word_columns(const nb::tuple& columns) {
  const Table table(columns);
  const WordTable words = without_python([&] { return count_words(table.view()); });
  return nb::make_tuple(to_bytes(words.words.text), to_bytes(words.words.begin), to_bytes(words.occurrences),
                        to_bytes(words.typed), to_bytes(words.queries), to_bytes(words.ended));
}

std::vector<std::pair<std::string, std::uint64_t>> character_counts(const nb::tuple& columns) {
  const Table table(columns);
  return without_python([&] { return count_characters(table.view()); });
}

nb::dict word_list_arrays(nb::handle text, nb::handle begin, nb::handle marked, const std::vector<std::string>& also,
                          std::vector<std::string> background) {
  const Texts words(text, begin);
  const Buffer marks(marked);
  const std::span<const std::uint8_t> chosen = checked_column<std::uint8_t>(marks, words.view().size());
  const bool stands = !background.empty();
  const WordList made = without_python([&] { return list_words(words.view(), chosen, also, std::move(background)); });
  NamedArrays named;
  named.add("words.filter", made.filter);
  if (stands) named.add("words.background", made.background);
  named.add_lexicon(made.list, made.size);
  return named.result();
}

nb::bytes word_counts(nb::handle text, nb::handle begin, nb::handle typed, nb::handle ended) {
  const Texts words(text, begin);
  const Buffer typed_column(typed);
  const Buffer ended_column(ended);
  const std::size_t size = words.view().size();
  const std::span<const std::uint64_t> how_often = checked_column<std::uint64_t>(typed_column, size);
  const std::span<const std::uint64_t> at_end = checked_column<std::uint64_t>(ended_column, size);
  std::vector<CountedWord> counted;
  for (std::size_t place = 0; place < size; ++place) {
    if (how_often[place] > 0) counted.push_back({words.view().at(place), how_often[place], at_end[place]});
  }
  return to_bytes(build_word_counts(counted));
}

nb::dict tree_arrays(nb::handle text, nb::handle begin, nb::handle count, const std::vector<std::string>& more) {
  const Texts words(text, begin);
  const Buffer counts(count);
  const std::span<const std::uint32_t> counted = checked_column<std::uint32_t>(counts, words.view().size());
  NamedArrays named;
  named.add("words.tree.", without_python([&] { return tree_of_words(words.view(), counted, more); }));
  return named.result();
}

nb::bytes marked_queries(const nb::tuple& columns, nb::handle text, nb::handle begin, nb::handle marked,
                         nb::handle singles, std::size_t most_single) {
  const Table table(columns);
  const Texts words(text, begin);
  const Buffer marks(marked);
  const Buffer numbers(singles);
  const std::size_t size = words.view().size();
  const std::span<const std::uint8_t> chosen = checked_column<std::uint8_t>(marks, size);
  const std::span<const std::uint8_t> single = checked_column<std::uint8_t>(numbers, size);
  return to_bytes(without_python([&] { return find_marked(table.view(), words.view(), chosen, single, most_single); }));
}

nb::tuple pair_columns(const nb::tuple& columns, const std::vector<std::string>& words, std::size_t most,
                       std::size_t least) {
  const Table table(columns);
  const WordPairs pairs = without_python([&] { return count_pairs(table.view(), words, most, least); });
  return nb::make_tuple(to_bytes(pairs.first), to_bytes(pairs.companion), to_bytes(pairs.together),
                        to_bytes(pairs.after));
}

std::vector<std::pair<std::uint32_t, std::uint32_t>> mined_pairs(const nb::tuple& columns, nb::handle starts,
                                                                 nb::handle numbers, std::size_t shortest,
                                                                 std::size_t most_edits) {
  const Table table(columns);
  const Buffer begins(starts);
  const Buffer rows(numbers);
  const std::span<const std::uint32_t> places = rows.as<std::uint32_t>();
  const std::span<const std::uint8_t> marks = checked_column<std::uint8_t>(begins, places.size());
  return without_python([&] { return mine_pairs(table.view(), marks, places, {shortest, most_edits}); });
}

}  // namespace

void bind_tables(nb::module_& module) {
  module.def("byte_order", &byte_order_of, "text"_a, "begin"_a, "The places of texts, sorted by their bytes.");
  nb::class_<TextFinder>(module, "TextFinder")
      .def(nb::init<nb::handle, nb::handle, nb::handle>(), "text"_a, "begin"_a, "order"_a)
      .def("find", &TextFinder::find, "text"_a, "Where a text lies; the number of all texts if it is not there.");
  module.def("sum_tables", &sum_tables, "tables"_a, "The columns of the sum of tables, the most typed first.");
  module.def("index_arrays", &index_arrays, "table"_a, "order"_a, "The popularity index of a table, also by keys.");
  module.def("letter_arrays", &letter_arrays, "table"_a, "order"_a, "left_out"_a, "share"_a,
             "The queries of a table by their letters, and their frequent domain.");
  module.def("sorted_text_arrays", &sorted_text_arrays, "text"_a, "begin"_a,
             "Texts that are sorted and all different, as arrays for a model file.");
  module.def("word_columns", &word_columns, "table"_a, "The words of a table, and what is counted of them.");
  module.def("character_counts", &character_counts, "table"_a, "How often each character was typed.");
  module.def("word_list_arrays", &word_list_arrays, "text"_a, "begin"_a, "marked"_a, "also"_a, "background"_a,
             "The list of words that are marked, and of more, with their filters.");
  module.def("word_counts", &word_counts, "text"_a, "begin"_a, "typed"_a, "ended"_a,
             "The table of how often words were typed, and how many queries end with them.");
  module.def("tree_arrays", &tree_arrays, "text"_a, "begin"_a, "count"_a, "more"_a,
             "The tree of the words that count, and of more.");
  module.def("marked_queries", &marked_queries, "table"_a, "text"_a, "begin"_a, "marked"_a, "singles"_a,
             "most_single"_a, "The places of queries that hold marked words, or many single characters.");
  module.def("pair_columns", &pair_columns, "table"_a, "words"_a, "most"_a, "least"_a,
             "Which words occur together, and which side by side in so many queries.");
  module.def("mined_pairs", &mined_pairs, "table"_a, "starts"_a, "numbers"_a, "shortest"_a, "most_edits"_a,
             "The steps of sessions in which a query was corrected.");
  module.def(
      "are_alike",
      [](std::string_view typed, std::string_view meant, std::size_t shortest, std::size_t most_edits) {
        return are_alike(typed, meant, {shortest, most_edits});
      },
      "typed"_a, "meant"_a, "shortest"_a, "most_edits"_a, "Whether two queries differ in few letters.");
}

}  // namespace halfword
