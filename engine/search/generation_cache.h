#pragma once

#include <memory>
#include <mutex>
#include <string>
#include <unordered_map>
#include <utility>

namespace halfword {

/// A bounded cache that threads share. It keeps two generations: what is asked for moves to the young one, and when
/// that is full it becomes the old one and the old one is forgotten. So at most twice `capacity` values are held.
template <typename Value>
class GenerationCache {
 public:
  /// A capacity of 0 switches the cache off.
  explicit GenerationCache(std::size_t capacity) : capacity_(capacity) {}

  bool enabled() const { return capacity_ > 0; }

  /// The value of `key`, or nothing.
  std::shared_ptr<const Value> find(const std::string& key) {
    const std::scoped_lock lock(mutex_);
    if (const auto young = young_.find(key); young != young_.end()) return young->second;
    const auto old = old_.find(key);
    if (old == old_.end()) return nullptr;
    std::shared_ptr<const Value> value = old->second;
    keep(key, value);
    return value;
  }

  void insert(const std::string& key, Value value) {
    auto shared = std::make_shared<const Value>(std::move(value));
    const std::scoped_lock lock(mutex_);
    keep(key, std::move(shared));
  }

 private:
  using Generation = std::unordered_map<std::string, std::shared_ptr<const Value>>;

  void keep(const std::string& key, std::shared_ptr<const Value> value) {
    if (young_.size() >= capacity_) old_ = std::exchange(young_, Generation{});
    young_.insert_or_assign(key, std::move(value));
  }

  std::size_t capacity_;
  std::mutex mutex_;
  Generation young_;
  Generation old_;
};

}  // namespace halfword
