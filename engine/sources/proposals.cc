#include "sources/proposals.h"

#include <algorithm>
#include <functional>
#include <utility>

namespace halfword {

void PrefixFacts::add_cost(const PrefixFacts& other) {
  timed_out = timed_out || other.timed_out;
  cost.pieces_read += other.cost.pieces_read;
  cost.longest = std::max(cost.longest, other.cost.longest);
  cost.rows = std::max(cost.rows, other.cost.rows);
  cost.multiplications += other.cost.multiplications;
}

Proposal& Proposals::at(std::string text) {
  if (2 * (list_.size() + 1) > slots_.size()) rehash(std::max<std::size_t>(128, 2 * slots_.size()));
  if (list_.empty()) list_.reserve(slots_.size() / 2);
  std::uint32_t& slot = slots_[slot_of(text)];
  if (slot == 0) {
    list_.emplace_back().text = std::move(text);
    slot = static_cast<std::uint32_t>(list_.size());
  }
  return list_[slot - 1];
}

Proposal& Proposals::at(std::string text, double log_reading, std::size_t matched) {
  const std::size_t before = list_.size();
  Proposal& proposal = at(std::move(text));
  const bool is_new = list_.size() > before;
  if (is_new || (proposal.matched > 0 && log_reading > proposal.log_reading)) {
    proposal.log_reading = log_reading;
    proposal.matched = matched;
  }
  return proposal;
}

/// The slot of a text, or the empty one where it belongs.
std::size_t Proposals::slot_of(std::string_view text) const {
  const std::size_t mask = slots_.size() - 1;
  std::size_t slot = std::hash<std::string_view>()(text) & mask;
  while (slots_[slot] != 0 && list_[slots_[slot] - 1].text != text) slot = (slot + 1) & mask;
  return slot;
}

void Proposals::rehash(std::size_t slots) {
  slots_.assign(slots, 0);
  for (std::size_t i = 0; i < list_.size(); ++i) slots_[slot_of(list_[i].text)] = static_cast<std::uint32_t>(i + 1);
}

}  // namespace halfword
