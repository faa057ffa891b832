#pragma once

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <thread>
#include <vector>

namespace halfword {

/// Call `work(i)` for every i below `size`, on as many threads as asked for (0: one a core).
template <typename Work>
void parallel_for(std::size_t size, std::size_t threads, const Work& work) {
  if (threads == 0) threads = std::max(1U, std::thread::hardware_concurrency());
  std::atomic<std::size_t> next{0};
  const auto take = [&] {
    for (std::size_t i = next++; i < size; i = next++) work(i);
  };
  std::vector<std::jthread> helpers;
  for (std::size_t thread = 1; thread < std::min(threads, size); ++thread) helpers.emplace_back(take);
  take();
}

}  // namespace halfword
