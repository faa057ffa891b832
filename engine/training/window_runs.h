#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "training/column.h"
#include "training/window_sort.h"
#include "training/windows.h"
#include "training/workers.h"

namespace halfword {

/// The windows of all queries, collected in sorted runs. Each thread fills a buffer of its own; a full buffer is sorted
/// and goes to a file. At the end all runs are read as one.
template <typename Key>
class WindowRuns {
 public:
  /// `memory` bytes are divided among the buffers of all threads.
  WindowRuns(const WindowShape& shape, std::size_t threads, std::size_t memory, Scratch files)
      : shape_(shape),
        files_(std::move(files)),
        capacity_(std::max(fewest, memory / (2 * threads * sizeof(Window<Key>)))),
        buffers_(threads) {}

  /// Add the windows of one query.
  void add(std::size_t thread, std::span<const PieceId> pieces, std::uint64_t count) {
    Buffer& buffer = buffers_[thread];
    Key key = shape_.before(shape_.end, Key{0});
    for (std::size_t place = pieces.size(); place > 0; --place) {
      key = shape_.before(pieces[place - 1], key);
      push(buffer, {key, count});
    }
    push(buffer, {shape_.before(shape_.begin, key), count});
  }

  /// Add one window.
  void add_window(std::size_t thread, std::span<const PieceId> pieces, std::uint64_t count) {
    push(buffers_[thread], {shape_.template packed<Key>(pieces), count});
  }

  /// Sort what is left in the buffers. Nothing can be added any more.
  void finish(const Workers& workers) {
    workers.each(buffers_.size(), [this](std::size_t place, std::size_t) {
      Buffer& buffer = buffers_[place];
      sort(buffer);
      buffer.spare = {};
    });
    for (Buffer& buffer : buffers_) {
      for (Column<Window<Key>>& run : buffer.spilled) runs_.push_back(std::move(run));
    }
  }

  /// How many windows begin with each piece, equal ones counted again and again.
  std::vector<std::uint64_t> by_first_piece() const {
    std::vector<std::uint64_t> numbers(shape_.vocabulary);
    visit_runs([&](std::span<const Window<Key>> run) {
      for (std::size_t place = 0; place < run.size();) {
        const PieceId piece = shape_.piece(run[place].key, 0);
        const std::size_t next = place_of(run, piece + 1);
        numbers[piece] += next - place;
        place = next;
      }
    });
    return numbers;
  }

  /// Call `visit(key, count)` for all different windows that begin with the pieces first … last − 1, in their order.
  template <typename Visit>
  void visit(PieceId first, PieceId last, const Visit& visit) const {
    std::vector<std::span<const Window<Key>>> heap;
    visit_runs([&](std::span<const Window<Key>> run) {
      const std::size_t begin = place_of(run, first);
      const std::size_t end = place_of(run, last);
      if (begin < end) heap.push_back(run.subspan(begin, end - begin));
    });
    for (std::size_t place = heap.size(); place > 0; --place) sink(heap, place - 1);
    while (!heap.empty()) {
      const Key key = heap.front().front().key;
      std::uint64_t count = 0;
      while (!heap.empty() && heap.front().front().key == key) {
        count += heap.front().front().count;
        advance(heap);
      }
      visit(key, count);
    }
  }

  /// Let go of the memory of what `visit` has read.
  void forget(PieceId first, PieceId last) const {
    for (const Column<Window<Key>>& run : runs_) {
      run.forget(place_of(run.span(), first), place_of(run.span(), last));
    }
  }

  /// The bytes that are in memory.
  std::size_t bytes() const {
    std::size_t windows = 0;
    for (const Buffer& buffer : buffers_) windows += buffer.size;
    return windows * sizeof(Window<Key>);
  }

 private:
  static constexpr std::size_t fewest = 64;  // windows of a buffer, however little memory there is

  struct Buffer {
    Column<Window<Key>> windows;
    Column<Window<Key>> spare;
    std::size_t size = 0;
    std::vector<Column<Window<Key>>> spilled;
  };

  void push(Buffer& buffer, const Window<Key>& window) {
    if (buffer.windows.empty()) {  // memory is taken by what is written, not by this
      buffer.windows = Column<Window<Key>>(Scratch(), capacity_);
      buffer.spare = Column<Window<Key>>(Scratch(), capacity_);
    }
    if (buffer.size == capacity_) {
      sort(buffer);
      if (buffer.size > capacity_ / 2) spill(buffer);
    }
    buffer.windows[buffer.size++] = window;
  }

  void sort(Buffer& buffer) {
    if (buffer.size == 0) return;
    const Window<Key>* sorted =
        sort_windows(buffer.windows.data(), buffer.spare.data(), buffer.size, shape_.used_bits());
    if (sorted != buffer.windows.data()) std::swap(buffer.windows, buffer.spare);
    buffer.size = join_equal(buffer.windows.data(), buffer.size);
  }

  void spill(Buffer& buffer) {
    Column<Window<Key>> run(files_, buffer.size);
    std::copy_n(buffer.windows.data(), buffer.size, run.data());
    run.forget(0, run.size());
    buffer.spilled.push_back(std::move(run));
    buffer.size = 0;
  }

  template <typename Visit>
  void visit_runs(const Visit& visit) const {
    for (const Column<Window<Key>>& run : runs_) visit(run.span());
    for (const Buffer& buffer : buffers_) visit(buffer.windows.span().first(buffer.size));
  }

  /// Where the windows that begin with `piece`, or with a later one, begin.
  std::size_t place_of(std::span<const Window<Key>> run, PieceId piece) const {
    const auto found = std::partition_point(
        run.begin(), run.end(), [&](const Window<Key>& window) { return shape_.piece(window.key, 0) < piece; });
    return static_cast<std::size_t>(found - run.begin());
  }

  static void advance(std::vector<std::span<const Window<Key>>>& heap) {
    heap.front() = heap.front().subspan(1);
    if (heap.front().empty()) {
      heap.front() = heap.back();
      heap.pop_back();
    }
    sink(heap, 0);
  }

  /// Move a run down the heap until no run below it comes first.
  static void sink(std::vector<std::span<const Window<Key>>>& heap, std::size_t place) {
    for (std::size_t child = 2 * place + 1; child < heap.size(); child = 2 * place + 1) {
      if (child + 1 < heap.size() && heap[child + 1].front().key < heap[child].front().key) ++child;
      if (!(heap[child].front().key < heap[place].front().key)) return;
      std::swap(heap[child], heap[place]);
      place = child;
    }
  }

  WindowShape shape_;
  Scratch files_;
  std::size_t capacity_;  // windows of a buffer
  std::vector<Buffer> buffers_;
  std::vector<Column<Window<Key>>> runs_;  // in files
};

}  // namespace halfword
