#include "rank/blend.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "search/finished.h"

namespace halfword {
namespace {

/// So many different queries that begin with the prefix, and a long text loses half of what it may lose.
constexpr double few = 3.0;

/// How many characters `text` has beyond the prefix it begins with.
double characters_beyond(std::string_view prefix, std::string_view text) {
  const std::string_view added = text.substr(std::min(prefix.size(), text.size()));
  const auto begins = [](char byte) { return (static_cast<unsigned char>(byte) & 0xC0) != 0x80; };
  return static_cast<double>(std::count_if(added.begin(), added.end(), begins));
}

/// So many different queries that go on from the prefix, and what a search misses hardly matters.
constexpr std::size_t many = 10;

/// Whether popularity knows enough to do without the network: many queries that go on from the prefix, or some that
/// were typed again and again, for then it is likely to be one of these now. The same whatever is asked for, so that
/// the best answers are the same too.
bool knows_enough(const TypedQueries& typed) {
  return typed.longer_distinct() >= many || 2 * typed.longer_total() > 3 * typed.longer_distinct();
}

/// What words that were typed together have to say of how a query ends that goes on from nothing typed before.
constexpr double companions_share = 0.2;

/// What queries that were typed in another spelling have to say where few go on from the prefix.
constexpr double spellings_share = 0.1;

/// So many answers at least are chosen together, and then put in order.
constexpr std::size_t page = 10;
static_assert(many <= page, "all typed queries are looked at where another spelling may propose one of them");

/// How wide and how hastily to search: the more queries popularity knows that go on from the prefix, the less it
/// matters what the search misses; and where it knows none, the search is all there is.
SearchOptions effort_for(SearchOptions options, std::size_t distinct) {
  constexpr std::size_t widest = 1000;
  const bool knows_many = distinct >= many;
  const std::size_t wider = options.beam * (distinct == 0 ? 4 : 2);
  options.beam = knows_many ? (4 * options.beam + 4) / 5 : std::max(options.beam, std::min(wider, widest));
  options.haste = knows_many ? 1.5 : distinct == 0 ? 0.25 : 0.5;
  return options;
}

/// The weights called `name`, where the file has them.
void read_weights(const ModelFile& file, const std::string& name, BlendWeights& weights) {
  if (!file.holds(name)) return;
  const std::span<const float> fitted = file.array<float>(name);
  const bool sound = fitted.size() == 4 && fitted[0] >= 0.0F && fitted[0] < 1.0F && fitted[1] >= 0.0F &&
                     fitted[1] < 1e9F && fitted[2] > 0.0F && fitted[2] < 1e9F && fitted[3] >= 0.0F && fitted[3] < 10.0F;
  if (!sound) throw ModelFileError("the weights of popularity and model make no sense");
  weights = {fitted[0], fitted[1], fitted[2], fitted[3]};
}

/// What a candidate's evidence and prior come to under some weights, for one prefix.
class Weighing {
 public:
  Weighing(const BlendWeights& weights, const Candidates& all)
      : discount_(weights.discount),
        model_(weights.least + weights.breadth * std::pow(all.distinct, 0.75)),
        shortness_(weights.shortness * all.distinct / (all.distinct + few)),
        total_(all.total - discount_ * all.distinct + model_) {}

  /// The probability of a candidate that has `added` characters beyond the prefix.
  double probability(const Candidate& candidate, double added) const {
    const double evidence = std::max(candidate.count - discount_, 0.0);
    return (evidence + model_ * std::exp(candidate.score)) / total_ * std::exp(-shortness_ * added);
  }

 private:
  double discount_;
  double model_;
  double shortness_;
  double total_;
};

/// Let what something else finds likely have a share in the model's opinion.
void add_share(const std::vector<LikelyText>& likely, double share, std::vector<Candidate>& list) {
  if (likely.empty()) return;
  for (Candidate& candidate : list) candidate.score += std::log(1.0 - share);
  for (const LikelyText& each : likely) {
    const double score = std::log(share * each.probability);
    const auto is_same = [&](const Candidate& candidate) { return candidate.text == each.text; };
    const auto same = std::find_if(list.begin(), list.end(), is_same);
    if (same == list.end()) {
      list.push_back({each.text, 0.0, score, Source::model});
    } else {
      same->score = log_add(same->score, score);
    }
  }
}

}  // namespace

Blend::Blend(const ModelFile& file, const Popular& popular, const Neural& neural, const Neural* memory)
    : popular_(popular), neural_(neural), memory_(memory) {
  if (file.holds("ngram.words.text")) companions_.emplace(file);
  if (file.holds("popular.by_letters")) spellings_.emplace(file, popular);
  read_weights(file, "blend.order", order_);
  read_weights(file, "blend.choice", choice_);
}

Candidates Blend::candidates(std::string_view prefix, const SearchOptions& options) const {
  const TypedQueries typed = popular_.most_typed(prefix, options.count, options.echo);
  // Where popularity knows enough, the network has next to nothing to add, and takes most of the time. (The probability
  // of the prefix is to be that of both wherever it is asked for.)
  const bool hurries = options.adapt && options.conditional && memory_ != nullptr && knows_enough(typed);
  SearchOptions asked = options.adapt ? effort_for(options, typed.longer_distinct()) : options;
  // Few searches are so long; but one that takes twice as long as the others is one that is waited for.
  if (options.adapt && !hurries) asked.most_read = std::max(25 + 4 * options.beam, 2 * options.count);
  asked.conditional = true;
  asked.min_probability = 0.0;
  asked.surplus = options.count;  // what ended just below the best may have been typed often
  SearchResult found = (hurries ? *memory_ : neural_).complete(prefix, asked);
  Candidates all{{}, static_cast<double>(typed.total), static_cast<double>(typed.distinct), found.mass, {}};
  for (Completion& completion : found.completions) {
    const auto count = static_cast<double>(popular_.count_of(completion.text, typed));
    all.list.push_back(
        {std::move(completion.text), count, completion.score, count > 0.0 ? Source::both : Source::model});
  }
  const double least = all.list.empty() ? 0.0 : all.list.back().score;
  // However many answers are asked for, so many are looked at: the best are the same then.
  if (companions_ && typed.longer_distinct() == 0) {
    add_share(companions_->complete(prefix, page), companions_share, all.list);
  }
  if (spellings_ && typed.longer_distinct() < many) {
    add_share(spellings_->complete(prefix, page), spellings_share, all.list);
  }
  const std::size_t proposed = all.list.size();
  for (const TypedQuery& query : typed.queries) {
    const auto is_same = [&](const Candidate& candidate) { return candidate.text == query.text; };
    const auto end = all.list.begin() + static_cast<std::ptrdiff_t>(proposed);
    const auto same = std::find_if(all.list.begin(), end, is_same);
    if (same != end) {
      same->count = query.count;  // an echoed prefix lies outside of what `count_of` looks through
      same->source = Source::both;
      continue;
    }
    // The search passed it over, so the model thinks less of it than of all that it found. How much less hardly
    // matters: asking the memory for its opinion moves MRR by 0.0001.
    all.list.push_back({query.text, static_cast<double>(query.count), least - 1.0, Source::popular});
  }
  found.completions.clear();
  all.cost = std::move(found);
  return all;
}

SearchResult Blend::complete(std::string_view prefix, const SearchOptions& options) const {
  SearchOptions asked = options;
  asked.count = std::max(options.count, page);  // so that who asks for fewer gets the first of the same
  Candidates all = candidates(prefix, asked);
  const Weighing choice(choice_, all);
  const Weighing order(order_, all);
  std::vector<std::pair<double, Completion>> chosen;
  for (Candidate& candidate : all.list) {
    const double added = characters_beyond(prefix, candidate.text);
    const double worth = choice.probability(candidate, added);
    const double score = std::log(order.probability(candidate, added)) + (options.conditional ? 0.0 : all.mass);
    if (std::isnan(worth) || std::isnan(score)) continue;  // a damaged model may say what is no number
    chosen.push_back({worth, {std::move(candidate.text), score, candidate.source}});
  }
  std::sort(chosen.begin(), chosen.end(), [](const auto& left, const auto& right) {
    return left.first != right.first ? left.first > right.first : left.second.text < right.second.text;
  });
  if (chosen.size() > asked.count) chosen.resize(asked.count);
  SearchResult result = std::move(all.cost);
  const double floor = std::log(options.min_probability) + (options.conditional ? 0.0 : all.mass);
  for (auto& [worth, completion] : chosen) {
    if (completion.score >= floor) result.completions.push_back(std::move(completion));
  }
  std::sort(result.completions.begin(), result.completions.end(), comes_first);
  if (result.completions.size() > options.count) result.completions.resize(options.count);
  return result;
}

}  // namespace halfword
