#include "lm/ngram.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <functional>
#include <iterator>
#include <numeric>

#include "sort.h"

namespace halfword {
namespace {

constexpr std::uint32_t absent = 0xFFFFFFFF;
constexpr std::size_t sampled = 64;  // one sample per so many n-grams
constexpr std::size_t backoff_codes = 256;
constexpr std::size_t word_bits = 64;
constexpr std::size_t most_listed = 64;         // pieces listed after each piece: seldom are more of them of use
constexpr std::size_t all_listed = 128 * 1024;  // and after all pieces, so that a large vocabulary loads as fast
constexpr std::size_t largest_table = 8 * 1024 * 1024;    // pairs of pieces that are indexed, in 2 MB
constexpr std::size_t most_pair_codes = 4 * 1024 * 1024;  // pairs of pieces whose gains are listed, a byte each
constexpr float slack = 1.0F + 1e-5F;                     // for what rounding takes from a bound

void require(bool fits, const std::string& what) {
  if (!fits) throw ModelFileError("the n-gram memory is damaged (" + what + "); train it again");
}

/// Check that values are between 0 and `most`, so that sums of them are valid.
void require_weights(std::span<const float> values, float most, const std::string& what) {
  const auto sound = [most](float value) { return value >= 0.0F && value <= most; };
  require(std::all_of(values.begin(), values.end(), sound), what);
}

std::uint64_t below(std::size_t bit) { return (std::uint64_t{1} << bit) - 1; }

constexpr std::uint64_t every_byte = 0x0101010101010101;
constexpr std::uint64_t high_bits = 0x8080808080808080;

/// In each byte, the number of ones in it and in all lower bytes.
std::uint64_t ones_up_to(std::uint64_t word) {
  word -= word >> 1 & 0x5555555555555555;
  word = (word & 0x3333333333333333) + (word >> 2 & 0x3333333333333333);
  word = (word + (word >> 4)) & 0x0F0F0F0F0F0F0F0F;
  return word * every_byte;
}

/// Like std::popcount, which is a function call where the compiler may not assume the processor's instruction.
std::size_t count_ones(std::uint64_t word) { return ones_up_to(word) >> 56; }

/// The position of the nth set bit, both counted from 0 at the low end; `sums` is `ones_up_to(word)`.
std::size_t nth_bit(std::uint64_t word, std::uint64_t sums, std::size_t nth) {
  const std::uint64_t reached = ((sums | high_bits) - (nth + 1) * every_byte) & high_bits;  // bytes with enough ones
  const auto begin = static_cast<std::size_t>(std::countr_zero(reached)) / 8 * 8;           // of the byte it is in
  const std::size_t before = (sums << 8 >> begin) & 0xFF;
  std::uint64_t byte = word >> begin;
  for (std::size_t left = nth - before; left > 0; --left) byte &= byte - 1;
  return begin + static_cast<std::size_t>(std::countr_zero(byte));
}

/// The run of zeros of an n-gram, one per child, and how many n-grams before it are parents.
struct Zeros {
  std::size_t begin = 0;
  std::size_t end = 0;
  std::size_t parents_before = 0;
};

/// Where the run of zeros before bit `end` begins.
std::size_t begin_of_zeros(std::span<const std::uint64_t> bits, std::size_t end) {
  std::size_t index = end / word_bits;
  std::uint64_t word = bits[index] & below(end % word_bits);
  while (word == 0 && index > 0) word = bits[--index];
  return word == 0 ? 0 : index * word_bits + static_cast<std::size_t>(std::bit_width(word));
}

/// From the sampled `position`, skip `ones` set bits, and count the parents among them: those that follow two zeros,
/// or one if `single` has all bits.
template <typename Count>
[[gnu::always_inline]] inline Zeros skip_ones(std::span<const std::uint64_t> bits, std::size_t position,
                                              std::size_t parents, std::size_t ones, std::uint64_t single,
                                              const Count& count) {
  std::size_t index = position / word_bits;
  if (index >= bits.size()) return {};
  std::uint64_t before = index == 0 ? ~std::uint64_t{0} : bits[index - 1];
  std::uint64_t wanted = ~below(position % word_bits);
  while (true) {
    const std::uint64_t all = bits[index];
    const std::uint64_t word = all & wanted;
    const std::uint64_t shifted = all << 1 | before >> 63;
    const std::uint64_t of_parents = word & ~(shifted | ((shifted << 1 | (before >> 62 & 1)) & ~single));
    const std::size_t found = count(word);
    if (found > ones) {
      const std::size_t bit = nth_bit(word, ones_up_to(word), ones);
      const std::size_t end = index * word_bits + bit;
      parents += count(of_parents & below(bit));
      return {begin_of_zeros(bits, end), end, parents};
    }
    ones -= found;
    parents += count(of_parents);
    before = all;
    wanted = ~std::uint64_t{0};
    if (++index == bits.size()) return {};
  }
}

#if defined(__x86_64__)

const bool counts_fast = __builtin_cpu_supports("popcnt") != 0;

/// The same with the processor's instruction, which the oldest ones do not have.
template <std::uint64_t single>
[[gnu::target("popcnt")]] Zeros skip_ones_fast(std::span<const std::uint64_t> bits, std::size_t position,
                                               std::size_t parents, std::size_t ones) {
  return skip_ones(bits, position, parents, ones, single,
                   [](std::uint64_t word) { return static_cast<std::size_t>(__builtin_popcountll(word)); });
}

#endif

Zeros find_zeros(std::span<const std::uint64_t> bits, std::size_t position, std::size_t parents, std::size_t ones,
                 std::uint64_t single) {
#if defined(__x86_64__)
  if (counts_fast) {
    return single == 0 ? skip_ones_fast<0>(bits, position, parents, ones)
                       : skip_ones_fast<~std::uint64_t{0}>(bits, position, parents, ones);
  }
#endif
  return skip_ones(bits, position, parents, ones, single, count_ones);
}

/// Where the entry of a piece is among sorted ones, or `absent`. Nothing is guessed: where the search goes on is
/// computed, since a processor would guess it wrong every other time.
template <typename Entry>
std::uint32_t find_entry(std::span<const Entry> entries, std::uint32_t code_bits, PieceId piece) {
  const std::uint64_t wanted = std::uint64_t{piece} << code_bits;
  std::size_t place = 0;
  if (entries.empty() || entries[0] >= wanted) {  // the end of a query is among the first
    return !entries.empty() && PieceId{entries[0]} >> code_bits == piece ? 0 : absent;
  }
  for (std::size_t left = entries.size(); left > 1;) {
    const std::size_t half = left / 2;
    place += half & (0 - static_cast<std::size_t>(entries[place + half - 1] < wanted));
    left -= half;
  }
  if (entries[place] < wanted) ++place;
  if (place == entries.size() || PieceId{entries[place]} >> code_bits != piece) return absent;
  return static_cast<std::uint32_t>(place);
}

/// The sum of the gains of some n-grams, the largest code of those that do not end a query, and the gain of the one
/// that does. For the largest code, the end of a query is looked for in the first place alone, where it nearly always
/// is: were it elsewhere, the code would only be a wider bound.
struct Gains {
  float sum = 0.0F;
  std::uint32_t most = 0;
  float ending = 0.0F;
};

/// Four partial sums, because each addition has to wait for the one before it.
template <typename Entry>
Gains gains_of(std::span<const Entry> entries, std::span<const float> gains, std::uint32_t code_bits, PieceId end) {
  const std::uint32_t mask = (1U << code_bits) - 1;
  std::array<float, 4> sums{};
  std::array<std::uint32_t, 4> most{};
  std::size_t index = 0;
  float ending = 0.0F;
  if (PieceId{entries[0]} >> code_bits == end) {
    ending = sums[3] = gains[entries[index++] & mask];
  } else if (PieceId{entries[0]} >> code_bits < end) {
    const std::uint32_t place = find_entry(entries, code_bits, end);
    if (place != absent) ending = gains[entries[place] & mask];
  }
  for (; index + 4 <= entries.size(); index += 4) {
    for (std::size_t lane = 0; lane < 4; ++lane) {
      const std::uint32_t code = entries[index + lane] & mask;
      sums[lane] += gains[code];
      most[lane] = std::max(most[lane], code);
    }
  }
  for (; index < entries.size(); ++index) {
    const std::uint32_t code = entries[index] & mask;
    sums[0] += gains[code];
    most[0] = std::max(most[0], code);
  }
  return {sums[0] + sums[1] + (sums[2] + sums[3]), *std::max_element(most.begin(), most.end()), ending};
}

/// Bring the place of a number nearer; where it lies outside, the nearest one.
template <typename T>
void prefetch_at(std::span<const T> values, std::size_t place) {
  if (!values.empty()) __builtin_prefetch(values.data() + std::min(place, values.size() - 1));
}

/// The end of a query among the pieces; none of them where the file does not say.
PieceId end_of_query(const ModelFile& file, std::size_t vocabulary) {
  if (!file.holds("pieces.special")) return static_cast<PieceId>(vocabulary);
  const std::span<const std::uint32_t> special = file.array<std::uint32_t>("pieces.special");
  return special.size() == 4 ? special[3] : static_cast<PieceId>(vocabulary);
}

}  // namespace

std::size_t NgramState::matched_order() const {
  std::size_t length = longest;
  while (length > 0 && contexts[length - 1].empty()) --length;
  return length;
}

float NgramState::backoff() const {
  const std::size_t length = matched_order();
  return length == 0 ? 1.0F : contexts[length - 1].backoff;
}

Ngram::Ngram(const ModelFile& file)
    : unigram_(file.array<float>("ngram.unigram")), backoffs_(file.array<float>("ngram.backoff")) {
  const std::span<const std::uint32_t> shape = file.array<std::uint32_t>("ngram.shape");
  require(shape.size() == 4 && shape[0] >= 1 && shape[0] <= NgramState::longest + 1, "shape");
  require(shape[1] == vocabulary() && shape[2] < vocabulary() && shape[3] <= 8, "shape");
  require(backoffs_.size() == backoff_codes, "backoffs");
  require_weights(backoffs_, 1.0F, "backoffs");
  require_weights(unigram_, 1.0F, "unigrams");
  begin_ = shape[2];
  end_ = end_of_query(file, vocabulary());
  code_bits_ = shape[3];
  for (std::size_t order = 2; order <= shape[0]; ++order) levels_.push_back(load_level(file, order));
  for (std::size_t order = 1; order < shape[0]; ++order) {
    children_.push_back(load_children(file, order, order == 1 ? vocabulary() : levels_[order - 2].size()));
  }
  by_unigram_.resize(vocabulary());
  std::iota(by_unigram_.begin(), by_unigram_.end(), PieceId{0});
  sort_list(by_unigram_, [&](PieceId left, PieceId right) {
    return unigram_[left] != unigram_[right] ? unigram_[left] > unigram_[right] : left < right;
  });
  first_.resize(vocabulary());
  for (PieceId piece = 0; piece < vocabulary() && !children_.empty(); ++piece) {
    Found found{.node = piece};
    seek(1, found);
    first_[piece] = weighed(1, found, 1.0F);
  }
}

/// Note for each pair of pieces whether it is an n-gram, and how many are before it, where there is room for it.
void Ngram::index_pairs() {
  const std::size_t words = (vocabulary() + word_bits - 1) / word_bits;
  if (children_.empty() || vocabulary() * words * word_bits > largest_table) return;
  pairs_.resize(vocabulary() * words);
  for (PieceId piece = 0; piece < vocabulary(); ++piece) {
    const std::span<PairWord> own = std::span(pairs_).subspan(piece * words, words);
    visit_entries(levels_.front(), first_[piece],
                  [&](PieceId next, float) { own[next / word_bits].bits |= std::uint64_t{1} << (next % word_bits); });
    std::size_t before = 0;
    for (PairWord& word : own) {
      word.before = before;
      before += count_ones(word.bits);
    }
  }
}

/// List what each pair of pieces gains, so that one read tells it, where there is room for it.
void Ngram::list_pair_gains() {
  const bool fits = code_bits_ < 8 && vocabulary() * vocabulary() <= most_pair_codes;
  if (children_.empty() || !fits) return;
  const Level& level = levels_.front();
  pair_gains_.assign(1, 0.0F);
  pair_gains_.insert(pair_gains_.end(), level.gains.begin(), level.gains.end());
  pair_codes_.resize(vocabulary() * vocabulary());
  const std::uint32_t mask = (1U << code_bits_) - 1;
  for (PieceId piece = 0; piece < vocabulary(); ++piece) {
    const NgramContext& context = first_[piece];
    for (std::uint32_t node = context.first; node < context.last; ++node) {
      const std::uint32_t entry = level.narrow.empty() ? level.wide[node] : level.narrow[node];
      if (entry >> code_bits_ >= vocabulary()) continue;  // of a damaged file
      pair_codes_[piece * vocabulary() + (entry >> code_bits_)] = static_cast<std::uint8_t>((entry & mask) + 1);
    }
  }
}

/// The number of the n-gram of two pieces, or `absent`.
std::uint32_t Ngram::find_pair(PieceId piece, PieceId next) const {
  const PairWord& word = pairs_[piece * (pairs_.size() / vocabulary()) + next / word_bits];
  const std::size_t bit = next % word_bits;
  if ((word.bits >> bit & 1) == 0) return absent;
  return first_[piece].first + static_cast<std::uint32_t>(word.before + count_ones(word.bits & below(bit)));
}

void Ngram::list_likely() {
  index_pairs();
  list_pair_gains();
  listed_ = children_.empty() ? 0 : std::min({most_listed, vocabulary() - 1, all_listed / vocabulary()});
  lists_.resize(vocabulary() * listed_);
  std::vector<LikelyPiece> likely;
  std::vector<PieceId> seen(vocabulary(), static_cast<PieceId>(vocabulary()));  // the last piece each was seen after
  for (PieceId piece = 0; piece < vocabulary() && listed_ > 0; ++piece) {
    NgramContext& context = first_[piece];
    likely.clear();
    visit_entries(levels_.front(), context, [&](PieceId next, float gain) {
      seen[next] = piece;
      likely.push_back({next, context.backoff * unigram_[next] + context.scale * gain});
    });
    for (std::size_t place = 0, others = 0; place < by_unigram_.size() && others <= listed_; ++place) {
      const PieceId next = by_unigram_[place];
      if (seen[next] == piece) continue;
      likely.push_back({next, context.backoff * unigram_[next]});
      ++others;
    }
    std::erase_if(likely, [&](const LikelyPiece& each) { return each.piece == end_ || std::isnan(each.value); });
    if (likely.size() < listed_) likely.assign(listed_, {end_, 1.0F});  // of a damaged file; it bounds nothing
    std::nth_element(likely.begin(), likely.begin() + static_cast<std::ptrdiff_t>(listed_ - 1), likely.end());
    likely.resize(listed_);
    sort_list(likely);
    std::copy(likely.begin(), likely.end(), lists_.begin() + static_cast<std::ptrdiff_t>(piece * listed_));
    context.peak = likely.front().value;
  }
}

Ngram::Level Ngram::load_level(const ModelFile& file, std::size_t order) const {
  const std::string name = "ngram." + std::to_string(order);
  Level level{.narrow = {}, .wide = {}, .gains = file.array<float>(name + ".gain")};
  require(level.gains.size() == std::size_t{1} << code_bits_, name + ".gain");
  require_weights(level.gains, 1e25F, name + ".gain");  // so that no sum overflows
  const bool narrow = vocabulary() << code_bits_ <= std::size_t{1} << 16;
  if (narrow) level.narrow = file.array<std::uint16_t>(name + ".entry");
  if (!narrow) level.wide = file.array<std::uint32_t>(name + ".entry");
  require(level.size() < absent, name + ".entry");
  std::partial_sum(level.gains.begin(), level.gains.end(), std::back_inserter(level.most_gained),
                   [](float left, float right) { return std::max(left, right); });
  return level;
}

Ngram::Children Ngram::load_children(const ModelFile& file, std::size_t order, std::size_t size) const {
  const std::string name = "ngram." + std::to_string(order);
  Children children{.bits = file.array<std::uint64_t>(name + ".children"),
                    .samples = file.array<std::uint32_t>(name + ".sample"),
                    .backoffs = file.array<std::uint8_t>(name + ".backoff"),
                    .alone = {},
                    .single = ~std::uint64_t{0}};
  require(children.samples.size() == (size + sampled - 1) / sampled * 2, name + ".sample");
  if (file.holds(name + ".alone")) {
    const std::span<const float> tables = file.array<float>(name + ".alone");
    require(tables.size() >= 2 && tables.size() % 2 == 0, name + ".alone");
    children.alone = tables.first(tables.size() / 2);
    children.single = 0;
    require_weights(children.alone, 1.0F, name + ".alone");
  }
  require(!children.backoffs.empty(), name + ".backoff");
  return children;
}

std::size_t Ngram::size() const {
  std::size_t size = 0;
  for (const Level& level : levels_) size += level.size();
  return size;
}

/// Find the children of an n-gram of `length` pieces, and the place of its backoff.
void Ngram::seek(std::size_t length, Found& found) const {
  const Children& children = children_[length - 1];
  const std::size_t sample = found.node / sampled * 2;
  const std::size_t node = found.node;
  const Zeros zeros = find_zeros(children.bits, children.samples[sample], children.samples[sample + 1], node % sampled,
                                 children.single);
  // Before the zeros there is one set bit per earlier n-gram. So begin − node is the number of the first child.
  if (zeros.begin < node || zeros.end <= zeros.begin || zeros.end - node > levels_[length - 1].size()) return;
  found.first = static_cast<std::uint32_t>(zeros.begin - node);
  found.last = static_cast<std::uint32_t>(zeros.end - node);
  found.parents_before = std::min(zeros.parents_before, children.backoffs.size() - 1);
}

/// An n-gram of `length` pieces as a context, once its children are found.
NgramContext Ngram::weighed(std::size_t length, const Found& found, float peak_of_shorter) const {
  const std::size_t count = found.last - found.first;
  if (count == 0) return {};
  if (count == 1 && !children_[length - 1].alone.empty()) return before_only_child(length, found, peak_of_shorter);
  const Level& level = levels_[length - 1];
  const Gains gains = level.wide.empty()
                          ? gains_of(level.narrow.subspan(found.first, count), level.gains, code_bits_, end_)
                          : gains_of(level.wide.subspan(found.first, count), level.gains, code_bits_, end_);
  const float backoff = backoffs_[children_[length - 1].backoffs[found.parents_before]];
  const float scale = gains.sum > 0.0F ? (1.0F - backoff) / gains.sum : 0.0F;
  const float peak = scale * level.most_gained[gains.most] + backoff * peak_of_shorter;
  return {found.first, found.last, backoff, scale, peak, scale * gains.ending};
}

/// The same where it has one child, which takes all that is not left to shorter contexts: its code tells how much.
NgramContext Ngram::before_only_child(std::size_t length, const Found& found, float peak_of_shorter) const {
  const Level& level = levels_[length - 1];
  const std::uint32_t entry = level.wide.empty() ? level.narrow[found.first] : level.wide[found.first];
  const std::uint32_t code = entry & ((1U << code_bits_) - 1);
  const std::span<const float> alone = children_[length - 1].alone;
  const float backoff = alone[std::min<std::size_t>(code, alone.size() - 1)];
  const float gain = level.gains[code];
  const float scale = gain > 0.0F ? (1.0F - backoff) / gain : 0.0F;
  const bool ends = entry >> code_bits_ == end_;
  const float peak = (ends ? 0.0F : scale * level.most_gained[code]) + backoff * peak_of_shorter;
  return {found.first, found.last, backoff, scale, peak, ends ? scale * gain : 0.0F};
}

/// The number of the n-gram of a state's context and a piece in its level, or `absent`.
std::uint32_t Ngram::find(std::size_t level, const NgramState& state, PieceId piece) const {
  if (level == 0 && !pairs_.empty()) return find_pair(state.last, piece);
  const NgramContext& context = state.contexts[level];
  const std::size_t count = context.last - context.first;
  const std::uint32_t found = !levels_[level].narrow.empty()
                                  ? find_entry(levels_[level].narrow.subspan(context.first, count), code_bits_, piece)
                                  : find_entry(levels_[level].wide.subspan(context.first, count), code_bits_, piece);
  return found == absent ? absent : context.first + found;
}

NgramState Ngram::start() const {
  NgramState state;
  state.contexts[0] = first_[begin_];
  state.last = begin_;
  return state;
}

NgramState Ngram::advance(const NgramState& state, PieceId piece) const {
  NgramState next;
  next.contexts[0] = first_[piece];
  next.last = piece;
  // Each step is made for all lengths before the next one, so that the processor waits for the memory once per step and
  // not once per length.
  std::array<Found, NgramState::longest> found;
  const std::size_t longest = children_.size();
  for (std::size_t length = 2; length <= longest; ++length) {
    const NgramContext& before = state.contexts[length - 2];
    if (before.empty()) continue;
    const std::uint32_t node = find(length - 2, state, piece);
    found[length - 1].node = node;
    if (node != absent) prefetch_at(children_[length - 1].samples, node / sampled * 2);
  }
  for (std::size_t length = 2; length <= longest; ++length) {
    const Children& children = children_[length - 1];
    const std::uint32_t node = found[length - 1].node;
    if (node != absent) prefetch_at(children.bits, children.samples[node / sampled * 2] / word_bits);
  }
  for (std::size_t length = 2; length <= longest; ++length) {
    Found& each = found[length - 1];
    if (each.node == absent) continue;
    seek(length, each);
    prefetch_at(children_[length - 1].backoffs, each.parents_before);
    prefetch_at(levels_[length - 1].narrow, each.first);
    prefetch_at(levels_[length - 1].wide, each.first);
  }
  float peak = next.contexts[0].peak;
  for (std::size_t length = 2; length <= longest; ++length) {
    NgramContext& context = next.contexts[length - 1];
    context = weighed(length, found[length - 1], peak);
    if (!context.empty()) peak = context.peak;
  }
  return next;
}

/// Call `visit` with every piece that follows a context, and its gain.
template <typename Visit>
void Ngram::visit_entries(const Level& level, const NgramContext& context, const Visit& visit) const {
  const std::uint32_t mask = (1U << code_bits_) - 1;
  const auto visit_each = [&](const auto& entries) {
    for (const std::uint32_t entry : entries.subspan(context.first, context.last - context.first)) {
      const PieceId piece = entry >> code_bits_;
      if (piece < vocabulary()) visit(piece, level.gains[entry & mask]);
    }
  };
  level.narrow.empty() ? visit_each(level.wide) : visit_each(level.narrow);
}

Ngram::Shares Ngram::shares_of(const NgramState& state) const {
  Shares shares;
  float left = 1.0F;  // probability left over by the longer contexts
  for (std::size_t length = levels_.size(); length > 0; --length) {
    const NgramContext& context = state.contexts[length - 1];
    shares.left[length] = left;
    shares.scales[length - 1] = left * context.scale;
    left *= context.backoff;
  }
  shares.left[0] = left;
  return shares;
}

void Ngram::predict(const NgramState& state, std::span<float> probabilities) const {
  const Shares shares = shares_of(state);
  for (std::size_t piece = 0; piece < vocabulary(); ++piece) probabilities[piece] = shares.left[0] * unigram_[piece];
  for (std::size_t index = 0; index < levels_.size(); ++index) {
    const float scale = shares.scales[index];
    visit_entries(levels_[index], state.contexts[index],
                  [&](PieceId piece, float gain) { probabilities[piece] += scale * gain; });
  }
}

float Ngram::probability(const NgramState& state, PieceId piece) const {
  float probability = unigram_[piece];
  for (std::size_t index = 0; index < levels_.size(); ++index) {
    const NgramContext& context = state.contexts[index];
    if (context.empty()) continue;
    const float gained = piece == end_ ? context.ending : context.scale * gain_of(index, state, piece);
    probability = probability * context.backoff + gained;
  }
  return probability;
}

/// The gain of a piece after a context that has n-grams; 0 if none of them goes on with it.
float Ngram::gain_of(std::size_t index, const NgramState& state, PieceId piece) const {
  if (index == 0 && !pair_codes_.empty()) return pair_gains_[pair_codes_[state.last * vocabulary() + piece]];
  const std::uint32_t node = find(index, state, piece);
  if (node == absent) return 0.0F;
  const Level& level = levels_[index];
  const std::uint32_t entry = level.narrow.empty() ? level.wide[node] : level.narrow[node];
  return level.gains[entry & ((1U << code_bits_) - 1)];
}

void Ngram::find_likely(const NgramState& state, std::span<const std::uint8_t> allowed, std::uint8_t wanted,
                        NgramScratch& scratch) const {
  const Shares shares = shares_of(state);
  const Choice choice{allowed, wanted};
  if (scratch.sums.size() != vocabulary()) scratch.sums.assign(vocabulary(), NgramScratch::untouched);
  scratch.touched.clear();
  std::size_t length = levels_.size();
  for (; length > 1; --length) {
    const NgramContext& context = state.contexts[length - 1];
    if (context.empty()) continue;
    if (context.last - context.first > scratch.touched.size()) raise_least(choice, scratch);
    if (shares.left[length] * context.peak * slack < scratch.likely.least()) break;
    add_touched(length, state, shares, scratch);
  }
  raise_least(choice, scratch);
  offer_touched(state, shares, length, choice, scratch);
  if (length == 0 || (length == 1 && !offer_listed(state, shares, choice, scratch))) {
    offer_others(state, shares, choice, scratch);
  }
  for (const PieceId piece : scratch.touched) scratch.sums[piece] = NgramScratch::untouched;
}

/// Offer the pieces that were looked at, with what contexts of up to `length` pieces add to each.
void Ngram::offer_touched(const NgramState& state, const Shares& shares, std::size_t length, const Choice& choice,
                          NgramScratch& scratch) const {
  LikelyPieces& likely = scratch.likely;
  const float most_added = most_by(length, state, shares);
  for (const PieceId piece : scratch.touched) {
    const float sum = scratch.sums[piece];
    if ((sum + most_added) * slack < likely.least() || !choice.allows(piece)) continue;
    const float probability = with_shorter(sum, piece, length, state, shares, likely.least());
    if (probability >= 0.0F) likely.offer({piece, probability + shares.left[0] * unigram_[piece]});
  }
}

/// What contexts of up to `length` pieces, and no context at all, can give to a piece at most.
float Ngram::most_by(std::size_t length, const NgramState& state, const Shares& shares) const {
  while (length > 0 && state.contexts[length - 1].empty()) --length;
  return shares.left[length] * (length == 0 ? 1.0F : state.contexts[length - 1].peak);
}

/// Add what contexts of up to `length` pieces give to a piece. They are looked up one by one, as long as it can still
/// have the least probability; a number below 0 if it cannot.
float Ngram::with_shorter(float sum, PieceId piece, std::size_t length, const NgramState& state, const Shares& shares,
                          float least) const {
  for (; length > 0; --length) {
    const NgramContext& context = state.contexts[length - 1];
    if (context.empty()) continue;
    if ((sum + shares.left[length] * context.peak) * slack < least) return -1.0F;
    sum += shares.scales[length - 1] * gain_of(length - 1, state, piece);
  }
  return sum;
}

/// Offer what is listed as likely after the last piece alone; false if the list is not long enough.
bool Ngram::offer_listed(const NgramState& state, const Shares& shares, const Choice& choice,
                         NgramScratch& scratch) const {
  for (const LikelyPiece& each : std::span(lists_).subspan(state.last * listed_, listed_)) {
    const float probability = shares.left[1] * each.value;
    if (probability * slack < scratch.likely.least()) return true;
    if (each.piece >= vocabulary() || scratch.sums[each.piece] != NgramScratch::untouched) continue;
    scratch.sums[each.piece] = 0.0F;
    scratch.touched.push_back(each.piece);
    if (choice.allows(each.piece)) scratch.likely.offer({each.piece, probability});
  }
  return false;
}

/// Offer all pieces that were not looked at yet: by the last piece, then by no context at all.
void Ngram::offer_others(const NgramState& state, const Shares& shares, const Choice& choice,
                         NgramScratch& scratch) const {
  const auto offer = [&](PieceId piece, float probability) {
    if (scratch.sums[piece] != NgramScratch::untouched) return;
    scratch.sums[piece] = 0.0F;
    scratch.touched.push_back(piece);
    if (choice.allows(piece)) scratch.likely.offer({piece, probability});
  };
  if (!levels_.empty()) {
    visit_entries(levels_.front(), state.contexts[0], [&](PieceId piece, float gain) {
      offer(piece, shares.left[0] * unigram_[piece] + shares.scales[0] * gain);
    });
  }
  for (const PieceId piece : by_unigram_) {
    const float probability = shares.left[0] * unigram_[piece];
    if (!(probability >= scratch.likely.least())) return;
    offer(piece, probability);
  }
}

/// Add what the context of `length` pieces gives to those that follow it. A piece that no longer context knows is left
/// out where it cannot become likely enough.
void Ngram::add_touched(std::size_t length, const NgramState& state, const Shares& shares,
                        NgramScratch& scratch) const {
  const float needed = scratch.likely.least() / slack - most_by(length - 1, state, shares);
  const float scale = shares.scales[length - 1];
  visit_entries(levels_[length - 1], state.contexts[length - 1], [&](PieceId piece, float gain) {
    const float gained = scale * gain;
    float& sum = scratch.sums[piece];
    if (sum == NgramScratch::untouched) {
      if (gained < needed) return;
      scratch.touched.push_back(piece);
      sum = 0.0F;
    }
    sum += gained;
  });
}

/// Raise the least probability asked for to what as many pieces as asked for have already.
void Ngram::raise_least(const Choice& choice, NgramScratch& scratch) const {
  LikelyPieces& likely = scratch.likely;
  if (scratch.touched.size() <= likely.most()) return;
  std::vector<float>& values = scratch.values;
  values.clear();
  for (const PieceId piece : scratch.touched) {
    const float sum = scratch.sums[piece];
    // What is not above what is asked for raises nothing; and what a damaged file says need not be a number.
    if (sum > likely.least() && choice.allows(piece)) values.push_back(sum);
  }
  if (values.size() < likely.most() || likely.most() == 0) return;
  const auto last = values.begin() + static_cast<std::ptrdiff_t>(likely.most() - 1);
  std::nth_element(values.begin(), last, values.end(), std::greater<>());
  likely.raise(*last);
}

}  // namespace halfword
