#include "store/displays.h"

#include <algorithm>
#include <utility>

namespace halfword {
namespace {

std::size_t size_of(const ModelFile& file, const std::string& part) {
  const std::span<const std::uint32_t> begin = file.array<std::uint32_t>(part + ".begin");
  if (begin.empty()) throw ModelFileError("the list of written forms makes no sense");
  return begin.size() - 1;
}

}  // namespace

WrittenAs::WrittenAs(const ModelFile& file, const std::string& part)
    : texts_(file, part, size_of(file, part)),
      begin_(file.array<std::uint32_t>(part + ".begin")),
      forms_(file.array<std::uint8_t>(part + ".form")) {}

std::string_view WrittenAs::form_of(std::string_view text) const {
  const SortedTexts::Place place = texts_.lower_bound(text);
  if (!place.exact) return {};
  const std::size_t begin = begin_[place.position];
  const std::size_t end = begin_[place.position + 1];
  if (begin > end || end > forms_.size()) return {};  // a damaged file
  return {reinterpret_cast<const char*>(forms_.data()) + begin, end - begin};
}

Displays::Displays(const ModelFile& file) {
  if (file.holds("display.query.begin")) queries_.emplace(file, "display.query");
  if (file.holds("display.word.begin")) words_.emplace(file, "display.word");
}

void Displays::dress(Completion& completion) const {
  const bool was_typed = completion.source == Origin::popular || completion.source == Origin::both;
  if (was_typed) {
    if (queries_) completion.display = queries_->form_of(completion.text);
    return;
  }
  if (!words_ || completion.source == Origin::session) return;
  std::string shown;
  bool differs = false;
  for (std::string_view rest = completion.text; !rest.empty();) {
    const std::size_t end = std::min(rest.find(' '), rest.size());
    const std::string_view form = words_->form_of(rest.substr(0, end));
    differs = differs || !form.empty();
    shown += form.empty() ? rest.substr(0, end) : form;
    if (end < rest.size()) shown += ' ';
    rest.remove_prefix(std::min(end + 1, rest.size()));
  }
  if (differs) completion.display = std::move(shown);
}

}  // namespace halfword
