#include "readings/corrections.h"

#include <algorithm>
#include <cmath>
#include <memory>
#include <optional>
#include <tuple>
#include <utility>

#include "sort.h"
#include "text/characters.h"

namespace halfword {
namespace {

constexpr std::size_t longest_word = 64;  // letters; longer ones are left as they are
constexpr std::size_t most_words = 16;    // a longer text is left as it is
constexpr double rounding = 1e-9;         // nats by which sums of the same numbers may differ

/// The beginning of a reading.
struct Path {
  std::string text;
  double cost = 0.0;
  double edits = 0.0;
  double spaces = 0.0;
  double log_prior = 0.0;
  double word_gain = 0.0;
  double known = 0.0;
  double known_gain = 0.0;
  double begun = 0.0;
  double after = 0.0;
  double letters = 0.0;
  double changed = 0.0;
  double endings = 0.0;
  double log_typed = 0.0;
  double others = 0.0;
  double typed_others = 0.0;
  double total = 0.0;     // how often queries were typed that begin so
  std::size_t first = 0;  // the queries that begin so lie from here
  std::size_t last = 0;   // to before here; there are none where it is the same
  bool as_typed = true;

  double score() const { return log_prior - cost; }
  bool seen() const { return first < last; }
};

bool is_likelier(const Path& left, const Path& right) {
  return left.score() != right.score() ? left.score() > right.score() : left.text < right.text;
}

}  // namespace

/// A way to read one or two of the typed words.
struct Corrections::Way {
  std::string text;
  double cost;
  double edits;
  double log_count;  // of its words together: the sum of their log-counts less those of all words, but for one
  double spaces = 0.0;
  double word_gain = 0.0;     // log_count less that of what was typed
  bool known = false;         // what was typed are words too
  double after = 0.0;         // letters typed after the last mistake
  double letters = 0.0;       // typed in all,
  double changed = 0.0;       // and from the first mistake on
  bool ending = false;        // whether a whole word differs in no more than its last letter
  double log_typed = 0.0;     // logarithm of how often the rarest of the typed words was typed
  double others = 0.0;        // how often others type the rarest of its words,
  double typed_others = 0.0;  // and of the typed ones; as logarithms
};

/// The ways to read one whole word.
struct Corrections::WordWays {
  std::vector<Way> ways;
  std::size_t steps;  // of the budget that finding them took
};

/// Reads one text.
class Corrections::Reader {
 public:
  Reader(const Corrections& parts, std::string_view typed, const Policy& policy)
      : queries_(parts.queries_),
        words_(parts.words_),
        others_(parts.others_ ? &*parts.others_ : nullptr),
        channel_(parts.channel_),
        kept_ways_(parts.kept_ways_),
        policy_(policy),
        budget_(static_cast<std::size_t>(policy.corrected_most_steps)),
        near_words_(parts.words_, parts.channel_, budget_) {
    for (std::size_t begin = 0; begin <= typed.size();) {
      const std::size_t end = std::min(typed.find(' ', begin), typed.size());
      typed_.push_back(typed.substr(begin, end - begin));
      spelled_.push_back(spelled(typed_.back()));
      begin = end + 1;
    }
  }

  std::vector<Reading> read() {
    if (typed_.size() > most_words) return {};
    std::vector<std::vector<Path>> beams(typed_.size() + 1);
    beams.front().push_back(nothing_read());
    least_score_ = score_as_typed() + policy_.corrected_least_gain - rounding;
    for (std::size_t place = 0; place < typed_.size(); ++place) {
      cut(beams[place]);
      if (beams[place].empty()) continue;
      const std::shared_ptr<const WordWays> word = word_at(place);
      for (const Way& way : word->ways) extend(beams[place], way, place, beams[place + 1]);
      for (const Way& way : joined_at(place)) extend(beams[place], way, place + 1, beams[place + 2]);
    }
    return chosen(beams.back());
  }

 private:
  bool is_last(std::size_t place) const { return place + 1 == typed_.size(); }
  double log_all() const { return words_.log_total(WordTree::root); }
  double log_unknown() const { return std::log(policy_.corrected_unknown_count); }

  /// The node that letters lead to, or none.
  WordTree::Node node_of(std::u32string_view letters, WordTree::Node from = WordTree::root) const {
    for (const char32_t letter : letters) {
      if (from == WordTree::none) break;
      from = words_.child(from, letter);
    }
    return from;
  }

  /// The logarithm of how often a word was typed, or all words that begin so; its letters go on from a node.
  std::optional<double> log_count_of(std::u32string_view letters, bool whole,
                                     WordTree::Node from = WordTree::root) const {
    const WordTree::Node node = node_of(letters, from);
    if (node == WordTree::none || (whole && !words_.is_word(node))) return std::nullopt;
    return whole ? words_.log_count(node) : words_.log_total(node);
  }

  /// The logarithm of how often others type a word, or words that begin so; 0 where nothing is known of others.
  double others_of(std::u32string_view letters, bool whole) const {
    if (others_ == nullptr) return 0.0;
    WordTree::Node node = WordTree::root;
    for (std::size_t i = 0; i < letters.size() && node != WordTree::none; ++i) node = others_->child(node, letters[i]);
    if (node == WordTree::none || (whole && !others_->is_word(node))) return log_unknown();
    return whole ? others_->log_count(node) : others_->log_total(node);
  }

  double edit_cost(double cost, double edits) const { return cost + edits * policy_.corrected_edit_cost; }

  /// The ways to read the word at `place`, which are kept if it is a whole word and the budget was enough to find all.
  std::shared_ptr<const WordWays> word_at(std::size_t place) {
    const bool keeps = kept_ways_.enabled() && !is_last(place);
    const std::string word(typed_[place]);
    std::shared_ptr<const WordWays> known = keeps ? kept_ways_.find(word) : nullptr;
    if (known && known->steps <= budget_) {
      budget_ -= known->steps;
      return known;
    }
    const std::size_t before = budget_;
    std::vector<Way> ways = ways_at(place);
    const WordWays found{std::move(ways), before - budget_};
    if (keeps && budget_ > 0) kept_ways_.insert(word, found);
    return std::make_shared<const WordWays>(found);
  }

  /// The ways to read the word at `place` alone, as it is typed first.
  std::vector<Way> ways_at(std::size_t place) {
    const std::u32string& word = spelled_[place];
    const bool whole = !is_last(place);
    std::vector<Way> ways;
    const std::optional<double> known = log_count_of(word, whole);
    const double log_typed = known.value_or(log_unknown());
    ways.push_back({std::string(typed_[place]), 0.0, 0.0, log_typed});
    if (static_cast<double>(word.size()) < policy_.corrected_fewest_letters || word.size() > longest_word) return ways;
    add_near(word, whole, log_typed, ways);
    add_split(word, whole, ways);
    compare(ways, log_typed, {log_typed, static_cast<double>(word.size()), known.has_value()},
            [&] { return others_of(word, whole); });
    return ways;
  }

  Path nothing_read() const {
    Path path;
    path.log_prior = std::log(static_cast<double>(queries_.total()));
    path.last = queries_.size();
    return path;
  }

  /// The word at `place` as it is typed.
  Way as_typed(std::size_t place) const {
    const std::optional<double> known = log_count_of(spelled_[place], !is_last(place));
    return {std::string(typed_[place]), 0.0, 0.0, known.value_or(log_unknown())};
  }

  /// What the text as typed scores.
  double score_as_typed() const {
    Path path = nothing_read();
    for (std::size_t place = 0; place < typed_.size(); ++place) path = extended(path, as_typed(place), place);
    return path.score();
  }

  /// The typed words that ways are for.
  struct Mistyped {
    double log_rarest;  // logarithm of how often the rarest was typed
    double letters;
    bool known;  // whether all are words
  };

  /// Note how much more often the words of each way are typed than those it is for, and what is known of these.
  template <typename Others>
  static void compare(std::vector<Way>& ways, double log_typed, const Mistyped& typed, const Others& typed_others) {
    if (std::none_of(ways.begin(), ways.end(), [](const Way& way) { return way.edits > 0.0; })) return;
    const double others = typed_others();
    for (Way& way : ways) {
      if (way.edits == 0.0) continue;
      way.word_gain = way.log_count - log_typed;
      way.known = typed.known;
      way.log_typed = typed.log_rarest;
      way.letters = typed.letters;
      way.typed_others = others;
    }
  }

  void add_near(const std::u32string& word, bool whole, double log_typed, std::vector<Way>& ways) {
    const NearOptions options{whole, static_cast<std::size_t>(policy_.corrected_near_words),
                              log_typed - policy_.corrected_word_slack, policy_.corrected_word_band,
                              policy_.corrected_edit_cost};
    const std::vector<NearWord>& found = near_words_.find(word, options);
    const bool long_enough = static_cast<double>(word.size()) >= policy_.corrected_letters_for_two;
    const bool explained = !found.empty() && found.front().score() >= policy_.corrected_enough_score;
    if (long_enough && log_typed <= policy_.corrected_rare && !explained) near_words_.find_with_two();
    for (const NearWord& near : found) {
      ways.push_back({unspelled(near.letters), near.cost, static_cast<double>(near.edits), near.log_count});
      Way& way = ways.back();
      way.after = static_cast<double>(near.after);
      const auto differ = std::mismatch(word.begin(), word.end(), near.letters.begin(), near.letters.end());
      way.changed = static_cast<double>(word.end() - differ.first);
      way.ending = whole && way.changed <= 1.0;
      way.others = others_of(near.letters, whole);
    }
  }

  /// Add the likeliest way to read a word as two: the space was left out, or a sign was typed in its place.
  void add_split(const std::u32string& word, bool whole, std::vector<Way>& ways) const {
    std::optional<Way> best;
    const std::u32string_view letters = word;
    WordTree::Node left = words_.child(WordTree::root, word.front());
    for (std::size_t cut = 1; cut < word.size() && left != WordTree::none; left = words_.child(left, word[cut++])) {
      if (!words_.is_word(left)) continue;
      const bool sign = Channel::class_of(word[cut]) == Channel::signs && cut + 1 < word.size();
      const std::u32string_view rest = letters.substr(sign ? cut + 1 : cut);
      if (!whole && rest == U"s") continue;  // a plural rather than another word
      const auto right = log_count_of(rest, whole);
      if (!right) continue;
      const double log_count = words_.log_count(left) + *right - log_all();
      if (best && log_count <= best->log_count) continue;
      std::string text = unspelled(letters.substr(0, cut)) + ' ' + unspelled(rest);
      best = Way{std::move(text), edit_cost(channel_.join(), 1.0), 1.0, log_count, 1.0};
      best->after = best->changed = static_cast<double>(rest.size());
      best->others = std::min(others_of(letters.substr(0, cut), true), others_of(rest, whole));
    }
    if (best) ways.push_back(std::move(*best));
  }

  /// The ways to read the words at `place` and after it as one: a space was typed inside it, or in place of a sign.
  std::vector<Way> joined_at(std::size_t place) const {
    std::vector<Way> ways;
    if (is_last(place) || spelled_[place].empty() || spelled_[place + 1].empty()) return ways;
    const WordTree::Node left = node_of(spelled_[place]);
    if (left == WordTree::none) return ways;
    const bool whole = !is_last(place + 1);
    for (const std::string_view sign : {"", ".", "-"}) {
      const std::u32string rest = spelled(sign) + spelled_[place + 1];
      const auto log_count = log_count_of(rest, whole, left);
      if (!log_count) continue;
      std::string text(typed_[place]);
      text.append(sign).append(typed_[place + 1]);
      ways.push_back({std::move(text), edit_cost(channel_.split(), 1.0), 1.0, *log_count, 1.0});
      ways.back().after = ways.back().changed = static_cast<double>(spelled_[place + 1].size());
      ways.back().others = others_of(spelled_[place] + rest, whole);
    }
    const std::optional<double> first = log_count_of(spelled_[place], true);
    const std::optional<double> second = log_count_of(spelled_[place + 1], whole);
    const double log_first = first.value_or(log_unknown());
    const double log_second = second.value_or(log_unknown());
    const auto letters = static_cast<double>(spelled_[place].size() + spelled_[place + 1].size());
    compare(ways, log_first + log_second - log_all(),
            {std::min(log_first, log_second), letters, first.has_value() && second.has_value()},
            [&] { return std::min(others_of(spelled_[place], true), others_of(spelled_[place + 1], whole)); });
    return ways;
  }

  /// Go on from paths in one way, which reads the typed words up to `place`. The further a path goes, the less it
  /// scores; one that will score too little is left out at once.
  void extend(const std::vector<Path>& paths, const Way& way, std::size_t place, std::vector<Path>& further) const {
    for (const Path& path : paths) {
      const bool as_typed = path.as_typed && way.edits == 0.0;
      if (as_typed || path.score() - way.cost >= least_score_) further.push_back(extended(path, way, place));
    }
  }

  Path extended(const Path& path, const Way& way, std::size_t place) const {
    Path next = path;
    next.text += way.text;
    if (!is_last(place)) next.text += ' ';
    next.cost += way.cost;
    next.edits += way.edits;
    next.spaces += way.spaces;
    next.word_gain += way.word_gain;
    if (way.known) next.known += 1.0;
    if (way.known) next.known_gain += way.word_gain;
    if (is_last(place)) next.begun += way.edits;
    next.after = way.edits > 0.0 ? way.after : path.after + static_cast<double>(spelled_[place].size() + 1);
    if (way.edits > 0.0) add_mistyped(way, path.edits > 0.0, next);
    next.as_typed = path.as_typed && way.edits == 0.0;
    if (path.seen()) std::tie(next.first, next.last) = queries_.range_of(next.text, path.first, path.last);
    next.total = queries_.sum_of(next.first, next.last);
    next.log_prior =
        next.seen() ? std::log(next.total) : path.log_prior + policy_.corrected_new_words + way.log_count - log_all();
    return next;
  }

  /// Add what is known of the mistyped words of a way; of several, the rarest tells most.
  static void add_mistyped(const Way& way, bool more, Path& path) {
    const auto rarest = [&](double before, double now) { return more ? std::min(before, now) : now; };
    path.letters += way.letters;
    path.changed = way.changed;
    if (way.ending) path.endings += 1.0;
    path.log_typed = rarest(path.log_typed, way.log_typed);
    path.others = rarest(path.others, way.others);
    path.typed_others = rarest(path.typed_others, way.typed_others);
  }

  /// Keep the best paths, and the one as typed.
  void cut(std::vector<Path>& paths) const {
    sort_list(paths, is_likelier);
    const auto most = static_cast<std::size_t>(policy_.corrected_beam);
    if (paths.size() <= most) return;
    const auto typed = std::find_if(paths.begin(), paths.end(), [](const Path& path) { return path.as_typed; });
    if (typed != paths.end() && static_cast<std::size_t>(typed - paths.begin()) >= most) {
      std::swap(paths[most - 1], *typed);
    }
    paths.resize(most);
  }

  std::vector<Reading> chosen(std::vector<Path>& paths) const {
    sort_list(paths, is_likelier);
    const auto typed = std::find_if(paths.begin(), paths.end(), [](const Path& path) { return path.as_typed; });
    std::vector<Reading> readings;
    double best = 0.0;
    if (typed == paths.end()) return readings;
    for (const Path& path : paths) {
      if (static_cast<double>(readings.size()) >= policy_.corrected_most_readings) break;
      if (path.as_typed || path.text == typed->text || path.score() - typed->score() < policy_.corrected_least_gain) {
        continue;
      }
      const auto same = [&](const Reading& reading) { return reading.text == path.text; };
      if (std::any_of(readings.begin(), readings.end(), same)) continue;
      if (!readings.empty() && path.score() < best - policy_.corrected_band) break;
      if (readings.empty()) best = path.score();
      readings.push_back({path.text, -path.cost, ReadingKind::corrected, path.edits, path.spaces,
                          path.log_prior - typed->log_prior, path.word_gain, path.known, path.known_gain, path.begun,
                          path.after, path.total, typed->total, path.letters, path.log_typed, path.changed,
                          path.endings, path.others, path.typed_others});
    }
    return readings;
  }

  const Popular& queries_;
  const WordTree& words_;
  const WordTree* others_;
  const Channel& channel_;
  GenerationCache<WordWays>& kept_ways_;
  const Policy& policy_;
  std::size_t budget_;
  NearWords near_words_;
  std::vector<std::string_view> typed_;  // words
  std::vector<std::u32string> spelled_;
  double least_score_ = 0.0;  // of a path that may become a correction
};

Corrections::Corrections(const ModelFile& file, const Popular& queries, std::size_t kept_words)
    : queries_(queries), words_(file, "words.tree"), channel_(file), kept_ways_(kept_words) {
  if (file.holds("words.others.letter")) others_.emplace(file, "words.others");
}

std::vector<Reading> Corrections::readings_of(std::string_view typed, const Policy& policy) const {
  return Reader(*this, typed, policy).read();
}

}  // namespace halfword
