#include "store/lexicon.h"

#include "text/words.h"

namespace halfword {

Lexicon::Lexicon(const ModelFile& file) : typed_(file, "words.filter") {
  if (file.holds("words.background")) background_.emplace(file, "words.background");
  if (file.holds("lexicon.size")) {
    const std::span<const std::uint32_t> size = file.array<std::uint32_t>("lexicon.size");
    if (size.size() != 1) throw ModelFileError("the size of the lexicon makes no sense");
    list_.emplace(file, "lexicon", size.front());
  }
}

UnknownWords Lexicon::unknown_words(std::string_view text, const LiveFlags* live) const {
  UnknownWords unknown;
  visit_words(text, [&](std::string_view word) {
    if (typed_.knows(word) || (live != nullptr && live->find(word) != nullptr)) return;
    ++unknown.unseen;
    if (!background_ || !background_->knows(word)) ++unknown.invented;
  });
  return unknown;
}

bool Lexicon::knows_all(std::string_view text, const LiveFlags* live) const {
  bool all = true;
  visit_words(text, [&](std::string_view word) {
    const bool is_live = live != nullptr && live->find(word) != nullptr;
    all = all && (is_live || (list_ && list_->lower_bound(word).exact));
  });
  return all;
}

bool Lexicon::holds(std::string_view word) const {
  return list_ ? typed_.knows(word) && list_->lower_bound(word).exact : typed_.knows(word);
}

}  // namespace halfword
