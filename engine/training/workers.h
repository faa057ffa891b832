#pragma once

#include <algorithm>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <exception>
#include <functional>
#include <mutex>
#include <thread>
#include <utility>
#include <vector>

namespace halfword {

/// Threads that share the steps of a long task. Meanwhile the calling thread asks now and then whether to go on.
class Workers {
 public:
  /// `check` throws if the task should end; it is called by the calling thread only. 0 threads: one per core.
  Workers(std::size_t threads, std::function<void()> check)
      : threads_(threads != 0 ? threads : std::max(1U, std::thread::hardware_concurrency())),
        check_(std::move(check)) {}

  std::size_t threads() const { return threads_; }

  /// Call `work(step, thread)` for every step below `steps`. The first exception stops the others and is thrown here.
  template <typename Work>
  void each(std::size_t steps, const Work& work) const {
    if (steps == 0) return;
    Shared shared;
    std::vector<std::jthread> threads;
    for (std::size_t thread = 0; thread < std::min(threads_, steps); ++thread) {
      const std::scoped_lock lock(shared.mutex);
      ++shared.running;
      threads.emplace_back([&shared, &work, steps, thread] { take(shared, work, steps, thread); });
    }
    wait(shared, steps);
    if (shared.thrown) std::rethrow_exception(shared.thrown);
  }

 private:
  struct Shared {
    std::atomic<std::size_t> next{0};
    std::mutex mutex;
    std::condition_variable ended;
    std::size_t running = 0;
    std::exception_ptr thrown;

    void stop(std::exception_ptr why, std::size_t steps) {
      if (!thrown) thrown = std::move(why);
      next = steps;
    }
  };

  template <typename Work>
  static void take(Shared& shared, const Work& work, std::size_t steps, std::size_t thread) {
    std::exception_ptr thrown;
    try {
      for (std::size_t step = shared.next++; step < steps; step = shared.next++) work(step, thread);
    } catch (...) {
      thrown = std::current_exception();
    }
    const std::scoped_lock lock(shared.mutex);
    if (thrown) shared.stop(thrown, steps);
    --shared.running;
    shared.ended.notify_one();
  }

  void wait(Shared& shared, std::size_t steps) const {
    std::unique_lock lock(shared.mutex);
    while (!shared.ended.wait_for(lock, patience, [&] { return shared.running == 0; })) {
      if (shared.thrown) continue;
      lock.unlock();
      std::exception_ptr thrown;
      try {
        check_();
      } catch (...) {
        thrown = std::current_exception();
      }
      lock.lock();
      if (thrown) shared.stop(thrown, steps);
    }
  }

  static constexpr std::chrono::milliseconds patience{50};

  std::size_t threads_;
  std::function<void()> check_;
};

}  // namespace halfword
