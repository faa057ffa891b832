#pragma once

#include <atomic>
#include <memory>
#include <mutex>
#include <utility>

namespace halfword {

#if defined(__cpp_lib_atomic_shared_ptr)

/// A value that one thread replaces while others take it; nobody waits for the other.
template <typename T>
class Published {
 public:
  std::shared_ptr<const T> load() const { return value_.load(std::memory_order_acquire); }
  void store(std::shared_ptr<const T> value) { value_.store(std::move(value), std::memory_order_release); }

 private:
  std::atomic<std::shared_ptr<const T>> value_;
};

#else

/// The same for compilers whose library has no atomic shared pointers.
template <typename T>
class Published {
 public:
  std::shared_ptr<const T> load() const {
    const std::scoped_lock lock(mutex_);
    return value_;
  }
  void store(std::shared_ptr<const T> value) {
    const std::scoped_lock lock(mutex_);
    value_ = std::move(value);
  }

 private:
  mutable std::mutex mutex_;
  std::shared_ptr<const T> value_;
};

#endif

}  // namespace halfword
