#include "sources/proposals.h"

#include <algorithm>
#include <functional>
#include <utility>

namespace halfword {

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

void Proposals::add_branch(const Reading& correction, Proposals proposed, std::string_view typed) {
  branches.push_back({correction, proposed.facts});
  facts.timed_out = facts.timed_out || proposed.facts.timed_out;
  facts.cost.pieces_read += proposed.facts.cost.pieces_read;
  facts.cost.longest = std::max(facts.cost.longest, proposed.facts.cost.longest);
  facts.cost.rows = std::max(facts.cost.rows, proposed.facts.cost.rows);
  facts.cost.multiplications += proposed.facts.cost.multiplications;
  for (Proposal& each : proposed.list_) {
    if (each.text.starts_with(typed)) continue;
    const std::size_t before = list_.size();
    Proposal& proposal = at(each.text);
    if (list_.size() == before) continue;
    proposal = std::move(each);
    proposal.branch = branches.size();
  }
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
