#include "training/letter_order.h"

#include <map>
#include <string_view>

#include "text/letters.h"

namespace halfword {

std::vector<std::uint32_t> letter_order(const QueryTable& table, std::span<const std::uint32_t> order,
                                        std::span<const std::uint8_t> left_out) {
  OwnTexts letters;
  letters.text.reserve(table.queries.text.size());
  letters.begin.reserve(order.size() + 1);
  std::vector<std::uint32_t> positions;
  for (std::size_t position = 0; position < order.size(); ++position) {
    if (left_out[order[position]] != 0) continue;
    LetterReader reader(without_lead(table.at(order[position])));
    while (reader.next()) letters.text += reader.letter;
    letters.begin.push_back(letters.text.size());
    positions.push_back(static_cast<std::uint32_t>(position));
  }
  std::vector<std::uint32_t> sorted = byte_order(letters.view());
  for (std::uint32_t& place : sorted) place = positions[place];
  return sorted;
}

std::string frequent_domain(const QueryTable& table, double share) {
  std::map<std::string_view, std::size_t> queries;
  for (std::size_t place = 0; place < table.size(); ++place) {
    if (const std::string_view domain = domain_of(table.at(place)); !domain.empty()) ++queries[domain];
  }
  std::string_view best;
  std::size_t most = 0;
  for (const auto& [domain, number] : queries) {
    if (number > most) {
      best = domain;
      most = number;
    }
  }
  return static_cast<double>(most) >= share * static_cast<double>(table.size()) ? std::string(best) : std::string();
}

}  // namespace halfword
