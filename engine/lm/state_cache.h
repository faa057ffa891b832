#pragma once

#include <array>
#include <cstdint>
#include <mutex>
#include <unordered_map>
#include <vector>

#include "lm/language_model.h"
#include "lm/pieces.h"

namespace halfword {

/// A sequence of pieces, identified by a 128-bit hash. A collision is too unlikely to matter.
struct SequenceKey {
  std::uint64_t first = 0x243F6A8885A308D3U;
  std::uint64_t second = 0x13198A2E03707344U;

  /// The key of this sequence and one more piece.
  SequenceKey then(PieceId piece) const {
    return {mix(first ^ piece) * 0x9E3779B97F4A7C15U, mix(second + piece) * 0xC2B2AE3D27D4EB4FU + first};
  }
  bool operator==(const SequenceKey&) const = default;

 private:
  static std::uint64_t mix(std::uint64_t value) {
    value = (value ^ (value >> 32)) * 0xD6E8FEB86659FD93U;
    return value ^ (value >> 29);
  }
};

/// States and predictions of recent sequences of pieces. After "new ", the search for "new y" continues from them, and
/// its hypotheses from those of the last keystroke. The size is bounded; the oldest entry is removed first. Threads
/// share it; each part has its own lock.
class StateCache {
 public:
  /// Room for about `capacity` sequences; 0 switches the cache off.
  explicit StateCache(std::size_t capacity) : capacity_((capacity + parts - 1) / parts) {}

  bool enabled() const { return capacity_ > 0; }

  /// Copy the entry of a sequence into a row of states and predictions; false if there is none.
  bool find(const LanguageModel& model, const SequenceKey& key, ModelStates& states, Predictions& predictions,
            std::size_t row);

  /// Store a row of states and predictions.
  void insert(const LanguageModel& model, const SequenceKey& key, const ModelStates& states,
              const Predictions& predictions, std::size_t row);

 private:
  static constexpr std::size_t parts = 8;

  struct Hash {
    std::size_t operator()(const SequenceKey& key) const { return key.first; }
  };
  struct Part {
    std::mutex mutex;
    ModelStates states;
    Predictions predictions;
    std::vector<SequenceKey> keys;  // of each row
    std::unordered_map<SequenceKey, std::size_t, Hash> rows;
    std::size_t oldest = 0;  // the row to be overwritten next
  };

  Part& part_of(const SequenceKey& key) { return parts_[key.second % parts]; }

  std::size_t capacity_;  // of each part
  std::array<Part, parts> parts_;
};

}  // namespace halfword
