#include "training/word_table.h"

#include <algorithm>
#include <iterator>
#include <unordered_map>
#include <utility>

#include "store/word_filter.h"
#include "text/characters.h"
#include "text/words.h"

namespace halfword {
namespace {

/// What is counted of the words, by their numbers.
struct Counters {
  std::vector<std::uint64_t> occurrences;
  std::vector<std::uint64_t> typed;
  std::vector<std::uint64_t> queries;
  std::vector<std::uint64_t> ended;

  void make_room(std::size_t words) {
    for (auto* each : {&occurrences, &typed, &queries, &ended}) each->resize(words);
  }
};

WordTable sorted_by_bytes(const WordNumbers& numbers, const Counters& counted) {
  OwnTexts texts;
  for (const std::string_view word : numbers.words()) texts.add(word);
  WordTable table;
  const std::size_t size = numbers.words().size();
  table.words.text.reserve(texts.text.size());
  table.words.begin.reserve(size + 1);
  for (auto* each : {&table.occurrences, &table.typed, &table.queries, &table.ended}) each->reserve(size);
  for (const std::uint32_t number : byte_order(texts.view())) {
    table.words.add(numbers.words()[number]);
    table.occurrences.push_back(counted.occurrences[number]);
    table.typed.push_back(counted.typed[number]);
    table.queries.push_back(counted.queries[number]);
    table.ended.push_back(counted.ended[number]);
  }
  return table;
}

}  // namespace

std::size_t WordNumbers::slot_of(std::string_view word) const {
  std::size_t slot = std::hash<std::string_view>()(word) & (slots_.size() - 1);
  while (slots_[slot] != free_slot && words_[slots_[slot]] != word) slot = (slot + 1) & (slots_.size() - 1);
  return slot;
}

std::uint32_t WordNumbers::number_of(std::string_view word) {
  std::size_t slot = slot_of(word);
  if (slots_[slot] != free_slot) return slots_[slot];
  if (2 * (words_.size() + 1) > slots_.size()) {
    grow();
    slot = slot_of(word);
  }
  slots_[slot] = static_cast<std::uint32_t>(words_.size());
  words_.push_back(word);
  return slots_[slot];
}

void WordNumbers::grow() {
  slots_.assign(2 * slots_.size(), free_slot);
  for (std::size_t number = 0; number < words_.size(); ++number) {
    std::size_t slot = std::hash<std::string_view>()(words_[number]) & (slots_.size() - 1);
    while (slots_[slot] != free_slot) slot = (slot + 1) & (slots_.size() - 1);
    slots_[slot] = static_cast<std::uint32_t>(number);
  }
}

WordTable count_words(const QueryTable& table) {
  WordNumbers numbers;
  Counters counted;
  std::vector<std::uint32_t> seen;
  for (std::size_t place = 0; place < table.size(); ++place) {
    seen.clear();
    visit_spaced(table.at(place), [&](std::string_view word) { seen.push_back(numbers.number_of(word)); });
    if (seen.empty()) continue;
    if (numbers.words().size() > counted.typed.size()) counted.make_room(2 * numbers.words().size());
    ++counted.ended[seen.back()];
    for (const std::uint32_t number : seen) counted.occurrences[number] += table.count[place];
    std::sort(seen.begin(), seen.end());
    seen.erase(std::unique(seen.begin(), seen.end()), seen.end());
    for (const std::uint32_t number : seen) {
      counted.typed[number] += table.count[place];
      ++counted.queries[number];
    }
  }
  return sorted_by_bytes(numbers, counted);
}

std::vector<std::pair<std::string, std::uint64_t>> count_characters(const QueryTable& table) {
  std::unordered_map<std::string_view, std::uint64_t> others;
  std::uint64_t ascii[128] = {};
  for (std::size_t place = 0; place < table.size(); ++place) {
    for (std::string_view rest = table.at(place); !rest.empty();) {
      const auto byte = static_cast<unsigned char>(rest.front());
      const std::size_t length = byte < 128 ? 1 : first_character(rest).size();
      (byte < 128 ? ascii[byte] : others[rest.substr(0, length)]) += table.count[place];
      rest.remove_prefix(length);
    }
  }
  std::vector<std::pair<std::string, std::uint64_t>> found(others.begin(), others.end());
  for (unsigned char byte = 0; byte < 128; ++byte) {
    if (ascii[byte] > 0) found.emplace_back(std::string(1, static_cast<char>(byte)), ascii[byte]);
  }
  std::sort(found.begin(), found.end());
  return found;
}

WordList list_words(const TextColumn& words, std::span<const std::uint8_t> marked, const std::vector<std::string>& also,
                    std::vector<std::string> background) {
  std::vector<std::string_view> typed(also.begin(), also.end());
  for (std::size_t place = 0; place < words.size(); ++place) {
    if (marked[place] == 0) continue;
    visit_words(words.at(place), [&](std::string_view word) { typed.push_back(word); });
  }
  const auto sort_out = [](auto& list) {
    std::sort(list.begin(), list.end());
    list.erase(std::unique(list.begin(), list.end()), list.end());
  };
  sort_out(typed);
  sort_out(background);
  std::vector<std::string_view> others;
  std::set_difference(background.begin(), background.end(), typed.begin(), typed.end(), std::back_inserter(others));
  WordList made;
  made.filter = build_word_filter(typed);
  made.background = build_word_filter(others);
  std::vector<std::string_view> all;
  std::merge(typed.begin(), typed.end(), others.begin(), others.end(), std::back_inserter(all));
  made.list = build_sorted_texts(all);
  made.size = all.size();
  return made;
}

std::vector<std::uint32_t> find_marked(const QueryTable& table, const TextColumn& words,
                                       std::span<const std::uint8_t> marked, std::span<const std::uint8_t> singles,
                                       std::size_t most_single) {
  WordNumbers numbers;  // of the words that matter
  std::vector<std::size_t> places;
  for (std::size_t place = 0; place < words.size(); ++place) {
    if (marked[place] == 0 && singles[place] == 0) continue;
    numbers.number_of(words.at(place));
    places.push_back(place);
  }
  std::vector<std::uint32_t> found;
  for (std::size_t place = 0; place < table.size(); ++place) {
    bool holds = false;
    std::size_t single = 0;
    visit_spaced(table.at(place), [&](std::string_view word) {
      const std::uint32_t number = numbers.find(word);
      if (number == WordNumbers::unknown) return;
      holds = holds || marked[places[number]] != 0;
      single += singles[places[number]];
    });
    if (holds || single >= most_single) found.push_back(static_cast<std::uint32_t>(place));
  }
  return found;
}

WordTreeArrays tree_of_words(const TextColumn& words, std::span<const std::uint32_t> count,
                             const std::vector<std::string>& more) {
  std::vector<std::pair<std::string, std::uint32_t>> listed;
  std::vector<std::string_view> known;
  for (std::size_t place = 0; place < words.size(); ++place) {
    if (count[place] == 0) continue;
    known.push_back(words.at(place));
    listed.emplace_back(words.at(place), count[place]);
  }
  for (const std::string& word : more) {
    if (!std::binary_search(known.begin(), known.end(), std::string_view(word))) listed.emplace_back(word, 1);
  }
  return build_word_tree(listed);
}

}  // namespace halfword
