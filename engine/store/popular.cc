#include "store/popular.h"

#include <algorithm>
#include <bit>
#include <stdexcept>
#include <utility>

namespace halfword {
namespace {

constexpr std::size_t block_size = 32;
constexpr std::size_t group_size = 8;  // blocks

std::size_t divide_up(std::size_t value, std::size_t by) { return (value + by - 1) / by; }

/// The number of rows of `range_max`: one for each power of two up to the number of groups.
std::size_t range_rows(std::size_t groups) { return static_cast<std::size_t>(std::bit_width(groups)); }

using Counted = std::pair<std::string, std::uint32_t>;

void build_counts(PopularArrays& arrays, std::span<const std::uint32_t> counts) {
  arrays.count.reserve(counts.size());
  for (std::size_t position = 0; position < counts.size(); ++position) {
    const std::uint32_t count = counts[position];
    arrays.count.push_back(static_cast<std::uint8_t>(std::min<std::uint32_t>(count, Popular::large_count)));
    if (count < Popular::large_count) continue;
    arrays.large.push_back(static_cast<std::uint32_t>(position));
    arrays.large_count.push_back(count);
  }
}

void build_blocks(PopularArrays& arrays, std::span<const std::uint32_t> counts) {
  std::uint64_t sum = 0;
  for (std::size_t begin = 0; begin < counts.size(); begin += block_size) {
    const auto block = counts.subspan(begin, std::min(block_size, counts.size() - begin));
    arrays.block_max.push_back(*std::max_element(block.begin(), block.end()));
    arrays.block_sum.push_back(sum);
    for (const std::uint32_t count : block) sum += count;
  }
  arrays.block_sum.push_back(sum);
}

/// The leftmost of the blocks from `begin` to before `end` that has the largest count.
std::size_t largest_block(std::span<const std::uint32_t> block_max, std::size_t begin, std::size_t end) {
  std::size_t best = begin;
  for (std::size_t block = begin + 1; block < end; ++block) {
    if (block_max[block] > block_max[best]) best = block;
  }
  return best;
}

void build_range_max(PopularArrays& arrays) {
  const std::vector<std::uint32_t>& block_max = arrays.block_max;
  const std::size_t groups = divide_up(block_max.size(), group_size);
  arrays.range_max.resize(range_rows(groups) * groups);
  for (std::size_t group = 0; group < groups; ++group) {
    const std::size_t end = std::min((group + 1) * group_size, block_max.size());
    arrays.range_max[group] = static_cast<std::uint32_t>(largest_block(block_max, group * group_size, end));
  }
  for (std::size_t row = 1; row < range_rows(groups); ++row) {
    std::uint32_t* best = arrays.range_max.data() + row * groups;
    const std::uint32_t* shorter = best - groups;
    for (std::size_t group = 0; group < groups; ++group) {
      const std::uint32_t left = shorter[group];
      const std::uint32_t right = shorter[std::min(group + (std::size_t{1} << (row - 1)), groups - 1)];
      best[group] = block_max[right] > block_max[left] ? right : left;
    }
  }
}

/// The smallest text that sorts after every text that begins with `prefix`. The last byte of UTF-8 is never 255, so it
/// can be raised by one.
std::string end_of(std::string_view prefix) {
  std::string end(prefix);
  end.back() = static_cast<char>(static_cast<unsigned char>(end.back()) + 1);
  return end;
}

}  // namespace

PopularArrays build_popular(std::vector<Counted> queries) {
  std::sort(queries.begin(), queries.end());
  std::vector<std::string_view> texts(queries.size());
  std::transform(queries.begin(), queries.end(), texts.begin(),
                 [](const Counted& each) -> std::string_view { return each.first; });
  std::vector<std::uint32_t> counts(queries.size());
  std::transform(queries.begin(), queries.end(), counts.begin(), [](const Counted& each) { return each.second; });
  return build_popular(texts, counts);
}

PopularArrays build_popular(std::span<const std::string_view> sorted, std::span<const std::uint32_t> counts) {
  if (std::adjacent_find(sorted.begin(), sorted.end()) != sorted.end()) {
    throw std::invalid_argument("a query is listed twice");
  }
  PopularArrays arrays;
  arrays.texts = build_sorted_texts(sorted);
  build_counts(arrays, counts);
  build_blocks(arrays, counts);
  build_range_max(arrays);
  return arrays;
}

Popular::Popular(const ModelFile& file, const std::string& part)
    : count_(file.array<std::uint8_t>(part + ".count")),
      texts_(file, part, count_.size()),
      large_(file.array<std::uint32_t>(part + ".large")),
      large_count_(file.array<std::uint32_t>(part + ".large_count")),
      block_max_(file.array<std::uint32_t>(part + ".block_max")),
      block_sum_(file.array<std::uint64_t>(part + ".block_sum")),
      range_max_(file.array<std::uint32_t>(part + ".range_max")) {
  const std::size_t blocks = divide_up(count_.size(), block_size);
  const std::size_t groups = divide_up(blocks, group_size);
  const bool whole = block_max_.size() == blocks && block_sum_.size() == blocks + 1 &&
                     range_max_.size() == range_rows(groups) * groups && large_.size() == large_count_.size();
  if (!whole) throw ModelFileError("the arrays of the popularity index do not fit each other");
}

void Popular::Stretches::add(std::size_t begin, std::size_t end) {
  if (begin >= end) return;
  const std::size_t best = popular_.best_in(begin, end);
  heap_.push_back({popular_.logged_at(best), best, begin, end});
  std::push_heap(heap_.begin(), heap_.end());
}

std::size_t Popular::Stretches::take_best() {
  std::pop_heap(heap_.begin(), heap_.end());
  const Stretch top = heap_.back();
  heap_.pop_back();
  add(top.begin, top.best);
  add(top.best + 1, top.end);
  return top.best;
}

TypedQueries Popular::most_typed(std::string_view prefix, std::size_t count, bool echo) const {
  count = std::min(count, size());
  const SortedTexts::Place first = texts_.lower_bound(prefix);
  const std::size_t end = end_position(prefix, first.position);
  const std::uint32_t exactly = first.exact && first.position < end ? logged_at(first.position) : 0;
  const auto distinct = static_cast<double>(end - std::min(first.position, end));
  TypedQueries typed{{}, sum_of(first.position, end), distinct, static_cast<double>(exactly), first.position, end};
  Stretches stretches(*this, count);
  stretches.add(first.position + (first.exact ? 1 : 0), end);
  if (echo && prefix.ends_with(' ')) {
    const SortedTexts::Place itself = texts_.lower_bound(prefix.substr(0, prefix.size() - 1));
    if (itself.exact) {
      stretches.add(itself.position, itself.position + 1);
      typed.itself = logged_at(itself.position);
      typed.total += typed.itself;
      ++typed.distinct;
    }
  }
  typed.queries.reserve(count);
  while (typed.queries.size() < count && !stretches.empty()) {
    const std::size_t best = stretches.take_best();
    typed.queries.push_back(at(best));
  }
  return typed;
}

std::pair<std::size_t, std::size_t> Popular::range_of(std::string_view prefix) const {
  const std::size_t first = texts_.lower_bound(prefix).position;
  const std::size_t end = end_position(prefix, first);
  return {std::min(first, end), end};
}

std::pair<std::size_t, std::size_t> Popular::range_of(std::string_view prefix, std::size_t first,
                                                      std::size_t last) const {
  if (prefix.empty()) return {first, last};
  const std::size_t begin = std::min(texts_.lower_bound(prefix, first, last).position, last);
  const std::size_t end = std::min(texts_.lower_bound(end_of(prefix), begin, last).position, last);
  return {std::min(begin, end), end};
}

double Popular::total_of(std::string_view prefix) const {
  const auto [first, last] = range_of(prefix);
  return sum_of(first, last);
}

std::vector<std::size_t> Popular::best_of(std::string_view prefix, std::size_t count) const {
  const auto [first, last] = range_of(prefix);
  std::vector<std::size_t> best;
  Stretches stretches(*this, std::min(count, last - first));
  stretches.add(first, last);
  while (best.size() < count && !stretches.empty()) best.push_back(stretches.take_best());
  return best;
}

/// Where the queries end that begin with `prefix`, the first of which is at `first`.
std::size_t Popular::end_position(std::string_view prefix, std::size_t first) const {
  return prefix.empty() ? size() : texts_.lower_bound(end_of(prefix), first, size()).position;
}

std::uint32_t Popular::count_of(std::string_view query, std::size_t first, std::size_t last) const {
  const SortedTexts::Place place = texts_.lower_bound(query, first, last);
  return place.exact ? logged_at(place.position) : 0;
}

TypedQuery Popular::at(std::size_t position) const {
  return {texts_.at(position), static_cast<double>(logged_at(position))};
}

/// The count at a position that is listed apart.
std::uint32_t Popular::large_at(std::size_t position) const {
  const auto found = std::lower_bound(large_.begin(), large_.end(), position);
  if (found == large_.end() || *found != position) return large_count;  // of a damaged file
  return large_count_[static_cast<std::size_t>(found - large_.begin())];
}

std::size_t Popular::best_in(std::size_t begin, std::size_t end) const {
  std::size_t best = begin;
  std::uint32_t most = logged_at(begin);
  const auto scan = [&](std::size_t from, std::size_t to) {
    for (std::size_t position = from; position < to; ++position) {
      if (count_[position] <= most && count_[position] < large_count) continue;
      const std::uint32_t count = logged_at(position);
      if (count <= most) continue;
      best = position;
      most = count;
    }
  };
  const std::size_t first_block = divide_up(begin, block_size);
  const std::size_t last_block = end / block_size;
  if (first_block >= last_block) {
    scan(begin, end);
    return best;
  }
  scan(begin, first_block * block_size);
  const std::size_t block = best_block(first_block, last_block);
  if (block_max_[block] > most) scan(block * block_size, std::min((block + 1) * block_size, size()));
  scan(last_block * block_size, end);
  return best;
}

std::size_t Popular::best_block(std::size_t begin, std::size_t end) const {
  const std::size_t blocks = block_max_.size();
  const std::size_t groups = divide_up(blocks, group_size);
  const std::size_t first_group = divide_up(begin, group_size);
  const std::size_t last_group = end / group_size;
  if (first_group >= last_group) return largest_block(block_max_, begin, end);
  std::size_t best = largest_block(block_max_, begin, first_group * group_size);
  const auto row = static_cast<std::size_t>(std::bit_width(last_group - first_group)) - 1;
  const auto offer = [&](std::size_t block) {
    if (block_max_[block] > block_max_[best]) best = block;
  };
  for (const std::size_t group : {first_group, last_group - (std::size_t{1} << row)}) {
    offer(std::min<std::size_t>(range_max_[row * groups + group], blocks - 1));
  }
  for (std::size_t block = last_group * group_size; block < end; ++block) offer(block);
  return best;
}

double Popular::sum_of(std::size_t begin, std::size_t end) const {
  return begin < end ? static_cast<double>(sum_before(end) - sum_before(begin)) : 0.0;
}

std::uint64_t Popular::sum_before(std::size_t position) const {
  const std::size_t block = position / block_size;
  std::uint64_t sum = block_sum_[block];
  for (std::size_t i = block * block_size; i < position; ++i) sum += logged_at(i);
  return sum;
}

}  // namespace halfword
