#include "store/lexicon.h"

#include <algorithm>

#include "text/words.h"

namespace halfword {

Lexicon::Lexicon(const ModelFile& file) : typed_(file, "words.filter") {
  if (file.holds("words.background")) background_.emplace(file, "words.background");
  if (file.holds("words.counts")) counts_.emplace(file, "words.counts");
  if (file.holds("lexicon.size")) {
    const std::span<const std::uint32_t> size = file.array<std::uint32_t>("lexicon.size");
    if (size.size() != 1) throw ModelFileError("the size of the lexicon makes no sense");
    list_.emplace(file, "lexicon", size.front());
  }
}

WordFacts Lexicon::facts_of(std::string_view text, const LiveFlags* live) const {
  WordFacts facts;
  bool first = true;
  visit_words(text, [&](std::string_view word) {
    WordCount count;
    if (typed_.knows(word) || (live != nullptr && live->find(word) != nullptr)) {
      count = counts_ ? counts_->find(word) : WordCount{1.0, 0.0};
    } else {
      ++facts.unseen;
      if (!background_ || !background_->knows(word)) ++facts.invented;
    }
    facts.least_typed = first ? count.typed : std::min(facts.least_typed, count.typed);
    facts.last_ended = count.ended;
    first = false;
  });
  return facts;
}

bool Lexicon::knows_all(std::string_view text, const LiveFlags* live) const {
  bool all = true;
  visit_words(text, [&](std::string_view word) {
    const bool is_live = live != nullptr && live->find(word) != nullptr;
    all = all && (is_live || (list_ && list_->lower_bound(word).exact));
  });
  return all;
}

bool Lexicon::knows_unspaced(std::string_view text) const {
  for (std::size_t begin = 0; begin <= text.size();) {
    const std::size_t end = std::min(text.find(' ', begin), text.size());
    const std::string_view whole = text.substr(begin, end - begin);
    const bool known = typed_.knows(whole) || (background_ && background_->knows(whole));
    if (!known && holds_unspaced(whole)) return false;
    begin = end + 1;
  }
  return true;
}

bool Lexicon::holds(std::string_view word) const {
  return list_ ? typed_.knows(word) && list_->lower_bound(word).exact : typed_.knows(word);
}

}  // namespace halfword
