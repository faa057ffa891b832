#pragma once

#include <algorithm>
#include <functional>

namespace halfword {

/// Sort a list. `comes_before` must tell all elements apart whose order matters, because equal ones stand in any order.
/// For pages a heap does it: its code is a tenth of that of `std::sort`, and every visitor downloads it.
template <typename List, typename Before = std::less<>>
void sort_list(List& list, Before comes_before = {}) {
#ifdef __EMSCRIPTEN__
  std::make_heap(list.begin(), list.end(), comes_before);
  std::sort_heap(list.begin(), list.end(), comes_before);
#else
  std::sort(list.begin(), list.end(), comes_before);
#endif
}

}  // namespace halfword
