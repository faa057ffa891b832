#include <nanobind/nanobind.h>
#include <nanobind/stl/map.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/string_view.h>
#include <nanobind/stl/vector.h>

#include "model_file.h"
#include "parallel.h"
#include "popular.h"

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

nb::list complete(const Popular& popular, std::string_view prefix, std::size_t count, bool echo, nb::handle type) {
  std::vector<Completion> found;
  {
    nb::gil_scoped_release release;
    found = popular.complete(prefix, count, echo);
  }
  return to_python(found, type);
}

nb::list complete_batch(const Popular& popular, const std::vector<std::string>& prefixes, std::size_t count, bool echo,
                        std::size_t threads, nb::handle type) {
  std::vector<std::vector<Completion>> found(prefixes.size());
  {
    nb::gil_scoped_release release;
    parallel_for(prefixes.size(), threads,
                 [&](std::size_t i) { found[i] = popular.complete(prefixes[i], count, echo); });
  }
  nb::list lists;
  for (const std::vector<Completion>& completions : found) lists.append(to_python(completions, type));
  return lists;
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

}  // namespace

NB_MODULE(_engine, module) {
  module.doc() = "The part of Halfword that runs at every keystroke.";
  nb::exception<ModelFileError>(module, "EngineFileError");

  nb::class_<ArrayPlace>(module, "ArrayPlace", "Where an array lies in a model file.")
      .def(nb::init<std::string, std::uint64_t, std::uint64_t>(), "dtype"_a, "begin"_a, "end"_a);
  nb::class_<ModelFile>(module, "ModelFile", "A model file mapped into memory.")
      .def(nb::init<const std::string&, std::map<std::string, ArrayPlace>>(), "path"_a, "places"_a);

  nb::class_<Popular>(module, "Popular", "The popularity index of a model file.")
      .def(nb::init<const ModelFile&>(), "file"_a, nb::keep_alive<1, 2>())
      .def("complete", &complete, "prefix"_a, "count"_a, "echo"_a, "type"_a)
      .def("complete_batch", &complete_batch, "prefixes"_a, "count"_a, "echo"_a, "threads"_a, "type"_a)
      .def("__len__", &Popular::size);
  module.def("popular_arrays", &popular_arrays, "queries"_a, "The arrays of an index over (query, count) pairs.");
}

}  // namespace halfword
