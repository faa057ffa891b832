#include "training/memory_layout.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <utility>

namespace halfword {
namespace {

constexpr std::size_t sampled = 64;  // one sample per so many n-grams
constexpr std::size_t dense = 1 << 16;
constexpr double least_backoff = 1e-9;
constexpr std::int16_t no_children = std::numeric_limits<std::int16_t>::min();

std::int16_t key_of(double backoff) {
  backoff = std::min(std::max(backoff, least_backoff), 1 - least_backoff);
  return static_cast<std::int16_t>(std::nearbyint(std::log(backoff / (1 - backoff)) * 1000.0));
}

/// Collects the bits that tell how many children each n-gram has: a zero per child, then a one.
class ChildBits {
 public:
  std::size_t size() const { return size_; }

  void add(std::size_t children) {
    size_ += children + 1;
    words_.resize((size_ + 63) / 64);
    words_[(size_ - 1) / 64] |= std::uint64_t{1} << ((size_ - 1) % 64);
  }

  std::vector<std::uint64_t> padded() && {
    if (size_ % 64 != 0) words_.back() |= ~std::uint64_t{0} << (size_ % 64);
    return std::move(words_);
  }

 private:
  std::vector<std::uint64_t> words_;
  std::size_t size_ = 0;
};

template <typename T>
std::vector<std::uint8_t> bytes_of(const std::vector<T>& values) {
  std::vector<std::uint8_t> bytes(values.size() * sizeof(T));
  if (!bytes.empty()) std::memcpy(bytes.data(), values.data(), bytes.size());
  return bytes;
}

void add(BackoffKeys::Contexts& sum, const BackoffKeys::Contexts& more) {
  for (std::size_t key = 0; key < BackoffKeys::size; ++key) {
    sum.masses[key] += more.masses[key];  // whole numbers, so that their order makes no difference
    sum.times[key] += more.times[key];
  }
}

/// The arrays of one order, and of its contexts in the order below.
template <typename Entry>
std::vector<NamedArray> order_arrays(const NgramTrie& trie, std::size_t order, const BackoffKeys& backoffs,
                                     const MemoryCodes& codes) {
  const NgramLevel& contexts = trie.level(order - 1);
  const NgramLevel& level = trie.level(order);
  const GainCodes& gains = codes.gains[order - 2];
  const Column<std::int16_t>& keys = backoffs.keys[order - 2];
  std::vector<Entry> entries;
  ChildBits bits;
  std::vector<std::uint32_t> samples;
  std::vector<std::uint8_t> backoff;
  std::size_t number = 0;  // of the context among those kept
  const auto add_context = [&](std::size_t context) {
    if (number++ % sampled == 0) {
      samples.push_back(static_cast<std::uint32_t>(bits.size()));
      samples.push_back(static_cast<std::uint32_t>(backoff.size()));
    }
    const std::size_t before = entries.size();
    const std::size_t key = BackoffKeys::place_of(keys[context]);
    for (std::size_t child = contexts.first_child[context]; child < contexts.first_child[context + 1]; ++child) {
      if (!level.is_kept(child)) continue;
      const std::uint32_t entry = std::uint32_t{level.piece[child]} << codes.bits | gains.of(level.adjusted[child]);
      entries.push_back(static_cast<Entry>(entry));
    }
    const std::size_t children = entries.size() - before;
    bits.add(children);
    if (children == 1 && !codes.alone.empty()) {
      const std::uint32_t piece = std::uint32_t{entries.back()} >> codes.bits;
      entries.back() = static_cast<Entry>(piece << codes.bits | codes.alone[order - 2][key]);
    } else if (children > 0) {
      backoff.push_back(codes.backoffs[key]);
    }
  };
  for (std::size_t part = 0; part < trie.parts(); ++part) {
    for (std::size_t context = contexts.parts[part]; context < contexts.parts[part + 1]; ++context) {
      if (contexts.is_kept(context)) add_context(context);
    }
    level.forget(part);
    contexts.forget(part);
    keys.forget(contexts.parts[part], contexts.parts[part + 1]);
  }
  const std::string above = "ngram." + std::to_string(order);
  const std::string below = "ngram." + std::to_string(order - 1);
  std::vector<NamedArray> arrays;
  arrays.push_back({above + ".entry", codes.wide ? "U32" : "U16", bytes_of(entries)});
  entries = {};
  arrays.push_back({below + ".children", "U64", bytes_of(std::move(bits).padded())});
  arrays.push_back({below + ".sample", "U32", bytes_of(samples)});
  if (backoff.empty()) backoff.push_back(0);  // so that there is one to be read
  arrays.push_back({below + ".backoff", "U8", std::move(backoff)});
  return arrays;
}

}  // namespace

BackoffKeys backoff_keys(const NgramTrie& trie, std::size_t top, const Discounts& discounts, bool alone,
                         const Workers& workers) {
  BackoffKeys found;
  for (std::size_t order = 1; order < top; ++order) {
    const NgramLevel& contexts = trie.level(order);
    const NgramLevel& level = trie.level(order + 1);
    Column<std::int16_t>& keys = found.keys.emplace_back(trie.scratch(), contexts.size);
    std::vector<BackoffKeys::Contexts> several(workers.threads());
    std::vector<BackoffKeys::Contexts> single(workers.threads());
    workers.each(trie.parts(), [&](std::size_t part, std::size_t thread) {
      for (std::size_t context = contexts.parts[part]; context < contexts.parts[part + 1]; ++context) {
        keys[context] = no_children;
        if (contexts.first_child[context] == contexts.first_child[context + 1]) continue;
        const ContextSums sums = sums_of(trie, order, context, discounts[order]);
        if (sums.kept == 0) continue;
        keys[context] = key_of(sums.backoff);
        BackoffKeys::Contexts& kind = alone && sums.kept == 1 ? single[thread] : several[thread];
        kind.masses[BackoffKeys::place_of(keys[context])] += sums.total;
        ++kind.times[BackoffKeys::place_of(keys[context])];
      }
      contexts.forget(part);
      level.forget(part);
      keys.forget(contexts.parts[part], contexts.parts[part + 1]);
    });
    for (const BackoffKeys::Contexts& each : several) add(found.all, each);
    if (!alone) continue;
    found.alone.emplace_back();
    for (const BackoffKeys::Contexts& each : single) add(found.alone.back(), each);
  }
  return found;
}

GainCodes::GainCodes(std::span<const std::uint64_t> counts, std::span<const std::uint32_t> codes) {
  for (std::size_t place = 0; place < counts.size(); ++place) {
    if (counts[place] >= dense) {
      large_.emplace(counts[place], codes[place]);
      continue;
    }
    if (small_.size() <= counts[place]) small_.resize(counts[place] + 1);
    small_[counts[place]] = codes[place];
  }
}

std::vector<NamedArray> memory_arrays(const NgramTrie& trie, std::size_t top, const BackoffKeys& backoffs,
                                      const MemoryCodes& codes, const Workers& workers) {
  std::vector<std::vector<NamedArray>> by_order(top - 1);
  workers.each(top - 1, [&](std::size_t step, std::size_t) {
    const std::size_t order = top - step;  // the largest first
    by_order[order - 2] = codes.wide ? order_arrays<std::uint32_t>(trie, order, backoffs, codes)
                                     : order_arrays<std::uint16_t>(trie, order, backoffs, codes);
  });
  std::vector<NamedArray> arrays;
  for (std::vector<NamedArray>& each : by_order) {
    std::move(each.begin(), each.end(), std::back_inserter(arrays));
  }
  return arrays;
}

}  // namespace halfword
