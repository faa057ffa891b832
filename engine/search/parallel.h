#pragma once

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <exception>
#include <mutex>
#include <system_error>
#include <thread>
#include <vector>

namespace halfword {

#if defined(__EMSCRIPTEN__)

/// Call `work(i)` for every i below `size`; a page has no threads to give.
template <typename Work>
void parallel_for(std::size_t size, std::size_t, const Work& work) {
  for (std::size_t i = 0; i < size; ++i) work(i);
}

#else

/// Call `work(i)` for every i below `size`, on as many threads as asked for (0: one per core). The first exception
/// stops the others and is thrown here.
template <typename Work>
void parallel_for(std::size_t size, std::size_t threads, const Work& work) {
  if (threads == 0) threads = std::max(1U, std::thread::hardware_concurrency());
  std::atomic<std::size_t> next{0};
  std::exception_ptr thrown;
  std::mutex mutex;
  const auto take = [&] {
    try {
      for (std::size_t i = next++; i < size; i = next++) work(i);
    } catch (...) {
      const std::scoped_lock lock(mutex);
      if (!thrown) thrown = std::current_exception();
      next = size;
    }
  };
  {
    std::vector<std::jthread> helpers;
    try {
      for (std::size_t thread = 1; thread < std::min(threads, size); ++thread) helpers.emplace_back(take);
    } catch (const std::system_error&) {
      // The machine has no more threads to give; those that began, and this one, do the work.
    }
    take();
  }
  if (thrown) std::rethrow_exception(thrown);
}

#endif

}  // namespace halfword
