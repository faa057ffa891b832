#include "training/word_cutter.h"

#include <algorithm>
#include <utility>

#include "text/escape.h"

namespace halfword {
namespace {

constexpr std::size_t most_words = 1 << 16;  // that are remembered; the frequent ones come early
constexpr std::size_t longest_word = 32;     // bytes of a word that may be remembered

/// Whether every piece is inside one word.
bool are_inside_words(const Pieces& pieces) {
  for (PieceId piece = 0; piece < pieces.size(); ++piece) {
    if (pieces.text(piece).rfind(space_mark) + 1 > 1) return false;  // found, and not at the beginning
  }
  return true;
}

}  // namespace

WordCutter::WordCutter(const Pieces& pieces)
    : pieces_(pieces), by_words_(pieces.segmentation() == Segmentation::bpe && are_inside_words(pieces)) {}

const std::vector<PieceId>& WordCutter::cut(std::string_view query) {
  if (!by_words_) return cut_ = pieces_.segment(escape(query));
  cut_.clear();
  for (std::size_t begin = 0; begin <= query.size();) {
    const std::size_t end = std::min(query.find(' ', begin), query.size());
    add_word(query.substr(begin, end - begin));
    begin = end + 1;
  }
  return cut_;
}

void WordCutter::add_word(std::string_view word) {
  auto found = known_.find(word);
  if (found == known_.end()) {
    std::vector<PieceId> pieces = pieces_.segment(escape(word));
    if (known_.size() >= most_words || word.size() > longest_word) {
      append(pieces);
      return;
    }
    found = known_.emplace(word, std::move(pieces)).first;
  }
  append(found->second);
}

/// A run of characters that no piece spells is one unknown piece, also across words.
void WordCutter::append(const std::vector<PieceId>& pieces) {
  const bool goes_on = !pieces_.has_bytes() && !cut_.empty() && cut_.back() == pieces_.unknown() && !pieces.empty() &&
                       pieces.front() == pieces_.unknown();
  cut_.insert(cut_.end(), pieces.begin() + (goes_on ? 1 : 0), pieces.end());
}

}  // namespace halfword
