#include "training/query_table.h"

#include <algorithm>
#include <limits>
#include <numeric>
#include <stdexcept>
#include <tuple>

#include "search/parallel.h"
#include "text/fold.h"

namespace halfword {
namespace {

/// A text as it is sorted: its first eight bytes as a number decide nearly always.
struct SortKey {
  std::uint64_t head;
  std::uint32_t place;
};

std::uint64_t head_of(std::string_view text) {
  std::uint64_t head = 0;
  for (std::size_t i = 0; i < sizeof(head); ++i) {
    head = head << 8 | (i < text.size() ? static_cast<unsigned char>(text[i]) : 0U);
  }
  return head;
}

/// Order by text, then by place.
class ByBytes {
 public:
  explicit ByBytes(const TextColumn& texts) : texts_(texts) {}

  bool operator()(const SortKey& left, const SortKey& right) const {
    if (left.head != right.head) return left.head < right.head;
    const int difference = texts_.at(left.place).compare(texts_.at(right.place));
    return difference != 0 ? difference < 0 : left.place < right.place;
  }

 private:
  const TextColumn& texts_;
};

constexpr std::uint64_t largest_count = std::numeric_limits<std::uint32_t>::max();

std::uint32_t clipped(std::uint64_t count) { return static_cast<std::uint32_t>(std::min(count, largest_count)); }

/// A query by one of its keys.
struct KeyedQuery {
  std::string key;
  std::uint32_t position;
  std::uint32_t count;

  bool operator<(const KeyedQuery& other) const {
    if (const int difference = key.compare(other.key); difference != 0) return difference < 0;
    return count != other.count ? count > other.count : position < other.position;
  }
};

std::vector<KeyedQuery> keyed_queries(const QueryTable& table, std::span<const std::uint32_t> order) {
  std::vector<KeyedQuery> found;
  for (std::size_t position = 0; position < order.size(); ++position) {
    const std::string_view query = table.at(order[position]);
    if (is_plain(query)) continue;
    for (std::string& key : fold_keys(query)) {
      if (key == query) continue;
      found.push_back({std::move(key), static_cast<std::uint32_t>(position), clipped(table.count[order[position]])});
    }
  }
  std::sort(found.begin(), found.end());
  return found;
}

/// A row of one of several tables.
struct SummedRow {
  std::uint64_t count;
  std::uint32_t table;
  std::uint32_t place;
};

/// All rows in the order of their bytes, those of the same text added up.
std::vector<SummedRow> merged_rows(std::span<const QueryTable> tables) {
  std::vector<std::vector<std::uint32_t>> orders;
  for (const QueryTable& table : tables) orders.push_back(byte_order(table.queries));
  std::vector<std::size_t> next(tables.size());
  std::vector<SummedRow> rows;
  std::string_view last;
  while (true) {
    std::size_t best = tables.size();
    for (std::size_t each = 0; each < tables.size(); ++each) {
      if (next[each] == orders[each].size()) continue;
      const auto text = [&](std::size_t number) { return tables[number].at(orders[number][next[number]]); };
      if (best == tables.size() || text(each) < text(best)) best = each;
    }
    if (best == tables.size()) return rows;
    const std::uint32_t place = orders[best][next[best]++];
    const std::uint64_t count = tables[best].count[place];
    if (!rows.empty() && tables[best].at(place) == last) {
      rows.back().count += count;
    } else {
      last = tables[best].at(place);
      rows.push_back({count, static_cast<std::uint32_t>(best), place});
    }
  }
}

}  // namespace

void TextColumn::check() const {
  const bool sound = !begin.empty() && size() < UINT32_MAX && begin.front() <= begin.back() &&
                     begin.back() <= text.size() && std::is_sorted(begin.begin(), begin.end());
  if (!sound) throw std::invalid_argument("the columns of a table do not fit each other");
}

void QueryTable::check() const {
  queries.check();
  if (queries.size() != count.size()) throw std::invalid_argument("the columns of a table do not fit each other");
}

std::vector<std::uint32_t> byte_order(const TextColumn& texts) {
  const std::size_t size = texts.size();
  std::vector<SortKey> keys(size);
  for (std::size_t place = 0; place < size; ++place) {
    keys[place] = {head_of(texts.at(place)), static_cast<std::uint32_t>(place)};
  }
  const ByBytes before(texts);
  const auto middle = keys.begin() + static_cast<std::ptrdiff_t>(size / 2);
  parallel_for(2, 2, [&](std::size_t half) {
    half == 0 ? std::sort(keys.begin(), middle, before) : std::sort(middle, keys.end(), before);
  });
  std::vector<std::uint32_t> order(size);
  auto left = keys.cbegin();
  auto right = keys.cbegin() + static_cast<std::ptrdiff_t>(size / 2);
  const auto end_of_left = right;
  for (std::uint32_t& place : order) {
    const bool from_left = right == keys.cend() || (left != end_of_left && before(*left, *right));
    place = (from_left ? left++ : right++)->place;
  }
  return order;
}

std::size_t find_text(const TextColumn& texts, std::span<const std::uint32_t> order, std::string_view text) {
  const auto is_before = [&](std::uint32_t place, std::string_view wanted) { return texts.at(place) < wanted; };
  const auto found = std::lower_bound(order.begin(), order.end(), text, is_before);
  return found != order.end() && texts.at(*found) == text ? *found : texts.size();
}

OwnTable sum_of(std::span<const QueryTable> tables) {
  std::vector<SummedRow> rows = merged_rows(tables);
  std::stable_sort(rows.begin(), rows.end(),
                   [](const auto& left, const auto& right) { return left.count > right.count; });
  OwnTable sum;
  std::size_t bytes = 0;
  for (const SummedRow& row : rows) bytes += tables[row.table].at(row.place).size();
  sum.queries.text.reserve(bytes);
  sum.queries.begin.reserve(rows.size() + 1);
  sum.count.reserve(rows.size());
  for (const SummedRow& row : rows) {
    sum.queries.add(tables[row.table].at(row.place));
    sum.count.push_back(row.count);
  }
  return sum;
}

PopularArrays index_table(const QueryTable& table, std::span<const std::uint32_t> order) {
  std::vector<std::string_view> texts(order.size());
  std::vector<std::uint32_t> counts(order.size());
  for (std::size_t position = 0; position < order.size(); ++position) {
    texts[position] = table.at(order[position]);
    const std::uint64_t count = table.count[order[position]];
    if (count > largest_count) {
      throw std::length_error("the count of '" + std::string(texts[position]) + "' is " + std::to_string(count) +
                              "; scale the counts below 2^32");
    }
    counts[position] = static_cast<std::uint32_t>(count);
  }
  return build_popular(texts, counts);
}

FoldedArrays fold_table(const QueryTable& table, std::span<const std::uint32_t> order) {
  std::vector<KeyedQuery> found = keyed_queries(table, order);
  FoldedArrays folded;
  std::vector<std::uint32_t> counts;
  std::size_t alike = 0;  // zero bytes that tell queries with the same key apart
  for (std::size_t i = 0; i < found.size(); ++i) {
    const bool same =
        i > 0 && found[i].key == std::string_view(found[i - 1].key).substr(0, found[i - 1].key.size() - alike);
    alike = same ? alike + 1 : 0;
    found[i].key.append(alike, '\0');
    folded.position.push_back(found[i].position);
    counts.push_back(found[i].count);
  }
  std::vector<std::string_view> texts(found.size());
  std::transform(found.begin(), found.end(), texts.begin(),
                 [](const auto& each) -> std::string_view { return each.key; });
  folded.keys = build_popular(texts, counts);
  return folded;
}

}  // namespace halfword
