#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <span>
#include <stdexcept>
#include <string>

namespace halfword {

/// A model file cannot be used; the message says why.
class ModelFileError : public std::runtime_error {
  using std::runtime_error::runtime_error;
};

/// Where an array is: its type as safetensors names it, and its first and last byte, counted from the start of the
/// file.
struct ArrayPlace {
  std::string dtype;
  std::uint64_t begin;
  std::uint64_t end;
};

/// A model file in memory. Mapped from a path, it is read-only and shared by every process that maps it.
class ModelFile {
 public:
  ModelFile(const std::string& path, std::map<std::string, ArrayPlace> places);
  /// The bytes of a file that somebody else holds; `name` is what errors call it.
  ModelFile(std::string name, std::map<std::string, ArrayPlace> places, std::span<const std::byte> bytes);
  ~ModelFile();
  ModelFile(const ModelFile&) = delete;
  ModelFile& operator=(const ModelFile&) = delete;

  bool holds(const std::string& name) const { return places_.contains(name); }

  /// The array called `name`; throws if it is missing, of another type, or extends beyond the file.
  template <typename T>
  std::span<const T> array(const std::string& name) const {
    const std::span<const std::byte> bytes = find(name, dtype_of<T>(), alignof(T));
    return {reinterpret_cast<const T*>(bytes.data()), bytes.size() / sizeof(T)};
  }

  /// Release the memory of all arrays whose names begin with `beginning`, because they were copied. A later read gets
  /// them from the file again. Bytes of somebody else stay.
  void leave(const std::string& beginning) const;

 private:
  template <typename T>
  static const char* dtype_of();

  std::span<const std::byte> find(const std::string& name, const std::string& dtype, std::size_t alignment) const;

  std::string path_;
  std::map<std::string, ArrayPlace> places_;
  std::span<const std::byte> bytes_;
  bool is_mapped_;
};

template <>
inline const char* ModelFile::dtype_of<std::uint8_t>() {
  return "U8";
}
template <>
inline const char* ModelFile::dtype_of<std::int8_t>() {
  return "I8";
}
template <>
inline const char* ModelFile::dtype_of<std::uint16_t>() {
  return "U16";
}
template <>
inline const char* ModelFile::dtype_of<float>() {
  return "F32";
}
template <>
inline const char* ModelFile::dtype_of<std::uint32_t>() {
  return "U32";
}
template <>
inline const char* ModelFile::dtype_of<std::uint64_t>() {
  return "U64";
}

}  // namespace halfword
