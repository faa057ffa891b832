#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <type_traits>
#include <utility>

namespace halfword {

/// Where training keeps its large arrays: in memory, or in files of a folder. The files have no names, so nothing is
/// left of them when the process ends, however it ends.
class Scratch {
 public:
  Scratch() = default;
  explicit Scratch(std::string folder) : folder_(std::move(folder)) {}

  bool in_files() const { return !folder_.empty(); }

  /// Zeros, as many bytes as asked for.
  void* map(std::size_t bytes) const;

 private:
  std::string folder_;
};

/// An array of a fixed size in a scratch; zeros at first.
template <typename T>
class Column {
  static_assert(std::is_trivially_copyable_v<T>);

 public:
  Column() = default;
  Column(const Scratch& scratch, std::size_t size)
      : data_(static_cast<T*>(scratch.map(size * sizeof(T)))), size_(size), in_file_(scratch.in_files()) {}
  Column(Column&& other) noexcept { swap(other); }
  Column& operator=(Column&& other) noexcept {
    Column old;
    old.swap(*this);
    swap(other);
    return *this;
  }
  ~Column();

  std::size_t size() const { return size_; }
  bool empty() const { return size_ == 0; }
  T* data() { return data_; }
  const T* data() const { return data_; }
  T& operator[](std::size_t place) { return data_[place]; }
  const T& operator[](std::size_t place) const { return data_[place]; }
  std::span<const T> span() const { return {data_, size_}; }

  /// Let go of the memory of some elements that were read or written; their values stay in the file, if there is one.
  void forget(std::size_t first, std::size_t last) const;

 private:
  void swap(Column& other) noexcept {
    std::swap(data_, other.data_);
    std::swap(size_, other.size_);
    std::swap(in_file_, other.in_file_);
  }

  T* data_ = nullptr;
  std::size_t size_ = 0;
  bool in_file_ = false;
};

/// Give mapped bytes back for good.
void unmap(void* data, std::size_t bytes);

/// Let go of the memory of whole pages between two addresses of a mapped file.
void forget_pages(const void* first, const void* last);

template <typename T>
Column<T>::~Column() {
  if (data_ != nullptr) unmap(data_, size_ * sizeof(T));
}

template <typename T>
void Column<T>::forget(std::size_t first, std::size_t last) const {
  if (in_file_ && first < last) forget_pages(data_ + first, data_ + last);
}

}  // namespace halfword
