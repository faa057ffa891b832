#pragma once

#include <string_view>
#include <vector>

#include "rank/policy.h"
#include "sources/other_order.h"
#include "store/popular.h"

namespace halfword {

/// Known queries with the typed letters inside a word, or at the `ending` of one, the most typed first: `ausweis` finds
/// `personalausweis`, `paper` finds `wallpaper`. All queries are read, so only an index of few is asked.
/// `search/reference_inside.py` has the rules.
std::vector<FoundQuery> find_inside(const Popular& queries, std::string_view typed, const Policy& policy, bool folds,
                                    bool ending = false);

}  // namespace halfword
