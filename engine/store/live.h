#pragma once

#include <map>
#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "store/folded.h"
#include "store/lexicon.h"
#include "store/live_state.h"
#include "store/popular.h"
#include "store/published.h"

namespace halfword {

/// One change of what is suggested.
struct LiveChange {
  enum class Kind { typed, weight, boost, remove, remove_beginning, allow, pin, unpin };

  Kind kind;
  std::string text;
  double number = 0.0;   // times typed, weight, boost or position
  std::string prefix{};  // of a pin
};

/// Changes over the popularity index of a model, which itself never changes.
///
/// Readers take the state of the moment and keep it as long as they need; a writer changes a copy and publishes it.
/// Nobody waits for the other. Writers wait for each other.
class Live {
 public:
  /// `folded` and `lexicon` may be null.
  Live(const Popular& popular, const FoldedQueries* folded, const Lexicon* lexicon);

  /// Apply changes; readers see all of them or none. Every count is multiplied by `scale` where it is read. What is not
  /// published yet is seen with the next changes that are: loading many is faster and takes less memory so.
  void apply(std::span<const LiveChange> changes, double scale, bool publish = true);

  /// Forget all changes; readers keep them until something is published.
  void clear(bool publish = true);

  /// The state of the moment; null if nothing was ever changed.
  std::shared_ptr<const LiveState> state() const { return published_.load(); }

 private:
  void apply(const LiveChange& change);
  LiveQuery query_of(std::string_view text) const;
  void put(std::string_view text, LiveQuery query);
  void put_words(std::string_view text, bool was_shown, bool is_shown);
  void flag(std::string_view text, std::uint32_t flag, bool on);
  void judge(std::string_view text);
  void judge_all();
  void judge_touched(std::string_view key, bool longer);
  void skip_removed();
  void pin(const LiveChange& change);

  const Popular& popular_;
  const FoldedQueries* folded_;
  const Lexicon* lexicon_;
  std::mutex writing_;
  LiveState next_;                                 // what is published next
  std::uint64_t generations_ = 0;                  // published so far
  std::map<std::string, std::uint32_t> removals_;  // keys whose removal has changed since queries were judged, and how
  Published<LiveState> published_;
};

}  // namespace halfword
