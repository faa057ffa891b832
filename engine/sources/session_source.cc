#include "sources/session_source.h"

#include <algorithm>
#include <array>
#include <bit>
#include <utility>

#include "store/current_queries.h"

namespace halfword {
namespace {

/// How much the age of a query counts: 1 for the last, 1/2 for the one before it, and so on.
double recency(std::size_t age) { return 1.0 / static_cast<double>(age + 1); }

/// The recency of the latest query of a set; 0 if it is empty.
double recency_of(Session::Mask queries) {
  return queries == 0 ? 0.0 : recency(static_cast<std::size_t>(std::countr_zero(queries)));
}

/// Whether `text` begins with `start`, ends there or has a space there.
bool has_words_first(std::string_view text, std::string_view start) {
  return text.starts_with(start) && (text.size() == start.size() || text[start.size()] == ' ');
}

/// Whether `text` ends with the words of `end`.
bool has_words_last(std::string_view text, std::string_view end) {
  return text.ends_with(end) && (text.size() == end.size() || text[text.size() - end.size() - 1] == ' ');
}

/// What was typed: the whole words, and the beginning of one more.
struct Typed {
  explicit Typed(std::string_view text)
      : all(text), words(text.substr(0, text.rfind(' ') + 1)), begun(text.substr(words.size())) {}

  std::string_view all;
  std::string_view words;  // with the space after them
  std::string_view begun;
};

/// Call `visit` with every end of a query that begins with a word.
template <typename Visit>
void for_each_tail(std::string_view query, const Visit& visit) {
  for (;;) {
    visit(query);
    const std::size_t space = query.find(' ');
    if (space == std::string_view::npos) return;
    query.remove_prefix(space + 1);
  }
}

/// Adds texts that are copied, up to the limit.
class Copier {
 public:
  explicit Copier(Proposals& proposals) : proposals_(proposals) {}

  /// Propose `start` with `rest` after it.
  void add(std::string_view start, std::string_view rest) {
    if (copies_ == SessionLimits::copies) return;
    Proposal& proposal = proposals_.at(std::string(start).append(rest));
    if (!std::exchange(proposal.copied, true)) ++copies_;
  }

 private:
  Proposals& proposals_;
  std::size_t copies_ = 0;
};

/// What the session says about all proposals for one prefix.
class Annotator {
 public:
  Annotator(const Session& session, const Typed& typed) : session_(session), typed_(typed) {
    std::string_view words = typed.words;
    for (std::size_t i = 0; i < SessionLimits::typed_words && !words.empty(); ++i) {
      words.remove_suffix(1);  // the space after a word
      const std::size_t begin = words.rfind(' ') + 1;
      const Session::WordId word = session.find(words.substr(begin));
      if (i == 0) before_ = word;
      count(session.queries_with(word), common_);
      known_ += word == Session::unknown ? 0 : 1;
      ++words_;
      words = words.substr(0, begin);
    }
  }

  void describe(PrefixFacts& facts) const {
    facts.session_size = static_cast<double>(session_.queries().size());
    facts.session_words = static_cast<double>(known_);
    facts.begun_characters = static_cast<double>(typed_.begun.size());
    for (std::size_t age = 0; age < session_.queries().size() && facts.session_recency == 0.0; ++age) {
      const std::string_view query = session_.queries()[age];
      if (query.size() > typed_.all.size() && query.starts_with(typed_.all)) facts.session_recency = recency(age);
    }
  }

  SessionEvidence evidence(std::string_view text) const {
    SessionEvidence found;
    by_words(text.substr(std::min(typed_.words.size(), text.size())), found);
    const auto queries = session_.queries();
    for (std::size_t age = 0; age < queries.size(); ++age) by_query(text, queries[age], recency(age), found);
    return found;
  }

 private:
  using Counts = std::array<std::uint32_t, SessionLimits::queries>;

  static void count(Session::Mask queries, Counts& counts) {
    for (; queries != 0; queries &= queries - 1) ++counts[static_cast<std::size_t>(std::countr_zero(queries))];
  }

  void by_words(std::string_view added, SessionEvidence& found) const {
    Counts common = common_;
    std::size_t words = words_;
    bool first = true;
    for_each_word(added, [&](std::string_view each) {
      const Session::WordId word = session_.find(each);
      const Session::Mask queries = session_.queries_with(word);
      (word == Session::unknown ? found.new_words : found.copied_words) += 1.0;
      count(queries, common);
      ++words;
      if (!std::exchange(first, false)) return;
      found.word_recency = recency_of(queries);
      found.word_agreement = std::popcount(queries);
      found.follows = session_.neighbours(before_, word) ? 1.0 : 0.0;
    });
    for (std::size_t age = 0; age < session_.queries().size(); ++age) {
      const std::size_t shared = std::min<std::size_t>({common[age], words, session_.words_of(age)});
      const double share = static_cast<double>(shared) /
                           static_cast<double>(std::max<std::size_t>(words + session_.words_of(age) - shared, 1));
      found.overlap = std::max(found.overlap, share);
      if (age == 0) found.overlap_with_last = share;
    }
  }

  void by_query(std::string_view text, std::string_view query, double recency, SessionEvidence& found) const {
    if (text == query) {
      found.repeats += 1.0;
      found.repeat_recency = std::max(found.repeat_recency, recency);
    } else if (has_words_first(text, query)) {
      found.extends_recency = std::max(found.extends_recency, recency);
    }
    const std::size_t typed = typed_.all.size();
    if (text.size() <= typed) return;
    if (has_words_last(query, text.substr(typed_.words.size()))) found.tail = 1.0;
    if (!query.starts_with(typed_.all) || !text.starts_with(typed_.all)) return;
    const auto differ = std::mismatch(text.begin(), text.end(), query.begin(), query.end()).first;
    const auto same = static_cast<std::size_t>(differ - text.begin()) - typed;
    found.shared_start =
        std::max(found.shared_start, static_cast<double>(same) / static_cast<double>(text.size() - typed));
  }

  const Session& session_;
  const Typed& typed_;
  Session::WordId before_ = Session::edge;  // the last whole word of the prefix
  std::size_t words_ = 0;                   // whole words of the prefix
  std::size_t known_ = 0;                   // those of them that an earlier query holds
  Counts common_{};                         // how many of them each query holds
};

}  // namespace

void SessionSource::propose(const Question& question, Proposals& proposals) const {
  const std::string_view text = question.reading.text;
  if (question.session.empty() || static_cast<double>(text.size()) > question.policy.longest_searched) return;
  const Typed typed(text);
  Copier copier(proposals);
  for (const std::string_view query : question.session.queries()) {
    if (query.size() > text.size() && query.starts_with(text)) copier.add({}, query);
  }
  propose_extensions(question, proposals);
  if (text.empty()) return;  // what is copied below needs something to stand behind
  for (const std::string_view query : question.session.queries()) {
    for_each_tail(query, [&](std::string_view tail) {
      if (!tail.starts_with(typed.begun)) return;
      if (tail.size() > typed.begun.size()) copier.add(typed.words, tail);
      const std::string_view word = tail.substr(0, tail.find(' '));
      if (word.size() > typed.begun.size()) copier.add(typed.words, word);
    });
  }
  if (typed.begun.empty()) return;
  const std::string with_space = std::string(text) + ' ';
  for_each_tail(question.session.queries().front(), [&](std::string_view tail) { copier.add(with_space, tail); });
}

/// Propose what others typed that goes on from one of the last queries.
void SessionSource::propose_extensions(const Question& question, Proposals& proposals) const {
  const CurrentQueries current(popular_, nullptr, question.live);
  const auto queries = question.session.queries();
  for (const std::string_view query : queries.first(std::min(queries.size(), SessionLimits::extended))) {
    if (!query.starts_with(question.reading.text)) continue;
    TypedQueries typed = current.most_typed(std::string(query) + ' ', SessionLimits::extensions, false);
    for (TypedQuery& each : typed.queries) {
      Proposal& proposal = proposals.at(std::move(each.text));
      proposal.count = each.count;
      proposal.since = each.since;
    }
  }
}

void SessionSource::annotate(const Question& question, Proposals& proposals) const {
  if (question.session.empty()) return;
  const Typed typed(question.reading.text);
  const Annotator annotator(question.session, typed);
  annotator.describe(proposals.facts);
  for (Proposal& proposal : proposals.list()) proposal.session = annotator.evidence(proposal.text);
}

}  // namespace halfword
