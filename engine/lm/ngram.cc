#include "lm/ngram.h"

#include <algorithm>
#include <bit>

namespace halfword {
namespace {

constexpr std::uint32_t absent = 0xFFFFFFFF;
constexpr std::size_t sampled = 64;  // one sample per so many n-grams
constexpr std::size_t backoff_codes = 256;
constexpr std::size_t word_bits = 64;

void require(bool fits, const std::string& what) {
  if (!fits) throw ModelFileError("the n-gram memory is damaged (" + what + "); train it again");
}

/// Check that values are between 0 and `most`, so that sums of them are valid.
void require_weights(std::span<const float> values, float most, const std::string& what) {
  const auto sound = [most](float value) { return value >= 0.0F && value <= most; };
  require(std::all_of(values.begin(), values.end(), sound), what);
}

std::uint64_t below(std::size_t bit) { return (std::uint64_t{1} << bit) - 1; }

/// Like std::popcount, which is a function call if the compiler may not assume the processor's instruction.
std::size_t count_ones(std::uint64_t word) {
  word -= word >> 1 & 0x5555555555555555;
  word = (word & 0x3333333333333333) + (word >> 2 & 0x3333333333333333);
  word = (word + (word >> 4)) & 0x0F0F0F0F0F0F0F0F;
  return word * 0x0101010101010101 >> 56;
}

/// The position of the nth set bit, both counted from 0 at the low end.
std::size_t nth_bit(std::uint64_t word, std::size_t nth) {
  for (; nth > 0; --nth) word &= word - 1;
  return static_cast<std::size_t>(std::countr_zero(word));
}

/// The run of zeros of an n-gram, one per child, and how many n-grams before it have children.
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

/// From the sampled `position`, skip `ones` set bits, and count those of them that follow a zero: they are parents.
Zeros find_zeros(std::span<const std::uint64_t> bits, std::size_t position, std::size_t parents, std::size_t ones) {
  std::size_t index = position / word_bits;
  if (index >= bits.size()) return {};
  std::uint64_t before = index == 0 ? 1 : bits[index - 1] >> (word_bits - 1);
  std::uint64_t wanted = ~below(position % word_bits);
  while (true) {
    const std::uint64_t word = bits[index] & wanted;
    const std::uint64_t after_zero = word & ~(bits[index] << 1 | before);
    const auto found = count_ones(word);
    if (found > ones) {
      const std::size_t bit = nth_bit(word, ones);
      const std::size_t end = index * word_bits + bit;
      parents += count_ones(after_zero & below(bit));
      return {begin_of_zeros(bits, end), end, parents};
    }
    ones -= found;
    parents += count_ones(after_zero);
    before = bits[index] >> (word_bits - 1);
    wanted = ~std::uint64_t{0};
    if (++index == bits.size()) return {};
  }
}

template <typename Entry>
std::uint32_t find_entry(std::span<const Entry> entries, std::uint32_t code_bits, PieceId piece) {
  const auto smaller = [code_bits](Entry entry, PieceId wanted) { return PieceId{entry} >> code_bits < wanted; };
  const auto found = std::lower_bound(entries.begin(), entries.end(), piece, smaller);
  if (found == entries.end() || PieceId{*found} >> code_bits != piece) return absent;
  return static_cast<std::uint32_t>(found - entries.begin());
}

/// The sum of the gains of some n-grams. Four partial sums, because each addition has to wait for the one before it.
template <typename Entry>
float sum_of(std::span<const Entry> entries, std::span<const float> gains, std::uint32_t code_bits) {
  const std::uint32_t mask = (1U << code_bits) - 1;
  std::array<float, 4> sums{};
  std::size_t index = 0;
  for (; index + 4 <= entries.size(); index += 4) {
    for (std::size_t lane = 0; lane < 4; ++lane) sums[lane] += gains[entries[index + lane] & mask];
  }
  for (; index < entries.size(); ++index) sums[0] += gains[entries[index] & mask];
  return sums[0] + sums[1] + (sums[2] + sums[3]);
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
  code_bits_ = shape[3];
  for (std::size_t order = 2; order <= shape[0]; ++order) levels_.push_back(load_level(file, order));
  for (std::size_t order = 1; order < shape[0]; ++order) {
    children_.push_back(load_children(file, order, order == 1 ? vocabulary() : levels_[order - 2].size()));
  }
  first_.resize(vocabulary());
  for (std::size_t piece = 0; piece < vocabulary() && !children_.empty(); ++piece) {
    first_[piece] = context(1, static_cast<std::uint32_t>(piece));
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
  return level;
}

Ngram::Children Ngram::load_children(const ModelFile& file, std::size_t order, std::size_t size) const {
  const std::string name = "ngram." + std::to_string(order);
  const Children children{.bits = file.array<std::uint64_t>(name + ".children"),
                          .samples = file.array<std::uint32_t>(name + ".sample"),
                          .backoffs = file.array<std::uint8_t>(name + ".backoff")};
  require(children.samples.size() == (size + sampled - 1) / sampled * 2, name + ".sample");
  require(!children.backoffs.empty(), name + ".backoff");
  return children;
}

std::size_t Ngram::size() const {
  std::size_t size = 0;
  for (const Level& level : levels_) size += level.size();
  return size;
}

/// The n-gram of `length` pieces with the number `node`, as a context.
NgramContext Ngram::context(std::size_t length, std::uint32_t node) const {
  const Children& children = children_[length - 1];
  const Level& level = levels_[length - 1];
  const std::size_t sample = node / sampled * 2;
  const Zeros zeros = find_zeros(children.bits, children.samples[sample], children.samples[sample + 1], node % sampled);
  // Before the zeros there is one set bit per earlier n-gram. So begin − node is the number of the first child.
  if (zeros.begin < node || zeros.end <= zeros.begin || zeros.end - node > level.size()) return {};
  NgramContext context{.first = static_cast<std::uint32_t>(zeros.begin - node),
                       .last = static_cast<std::uint32_t>(zeros.end - node)};
  context.backoff = backoffs_[children.backoffs[std::min(zeros.parents_before, children.backoffs.size() - 1)]];
  const std::size_t count = context.last - context.first;
  const float sum = level.wide.empty() ? sum_of(level.narrow.subspan(context.first, count), level.gains, code_bits_)
                                       : sum_of(level.wide.subspan(context.first, count), level.gains, code_bits_);
  context.scale = sum > 0.0F ? (1.0F - context.backoff) / sum : 0.0F;
  return context;
}

/// The number of the n-gram (context, piece) in its level, or `absent`.
std::uint32_t Ngram::find(std::size_t level, const NgramContext& context, PieceId piece) const {
  const std::size_t count = context.last - context.first;
  const std::uint32_t found = !levels_[level].narrow.empty()
                                  ? find_entry(levels_[level].narrow.subspan(context.first, count), code_bits_, piece)
                                  : find_entry(levels_[level].wide.subspan(context.first, count), code_bits_, piece);
  return found == absent ? absent : context.first + found;
}

NgramState Ngram::start() const {
  NgramState state;
  state.contexts[0] = first_[begin_];
  return state;
}

NgramState Ngram::advance(const NgramState& state, PieceId piece) const {
  NgramState next;
  next.contexts[0] = first_[piece];
  for (std::size_t length = 2; length <= children_.size(); ++length) {
    const NgramContext& before = state.contexts[length - 2];
    const std::uint32_t node = before.empty() ? absent : find(length - 2, before, piece);
    if (node != absent) next.contexts[length - 1] = context(length, node);
  }
  return next;
}

void Ngram::predict(const NgramState& state, std::span<float> probabilities) const {
  float left = 1.0F;  // probability left over by the longer contexts
  std::array<float, NgramState::longest> scales{};
  for (std::size_t length = levels_.size(); length > 0; --length) {
    const NgramContext& context = state.contexts[length - 1];
    scales[length - 1] = left * context.scale;
    left *= context.backoff;
  }
  for (std::size_t piece = 0; piece < vocabulary(); ++piece) probabilities[piece] = left * unigram_[piece];
  for (std::size_t index = 0; index < levels_.size(); ++index) {
    const NgramContext& context = state.contexts[index];
    const Level& level = levels_[index];
    const std::size_t count = context.last - context.first;
    if (!level.narrow.empty())
      add(level.narrow.subspan(context.first, count), level.gains, scales[index], probabilities);
    if (!level.wide.empty()) add(level.wide.subspan(context.first, count), level.gains, scales[index], probabilities);
  }
}

/// Add the gains of the n-grams of one context.
template <typename Entry>
void Ngram::add(std::span<const Entry> entries, std::span<const float> gains, float scale,
                std::span<float> probabilities) const {
  const std::uint32_t mask = (1U << code_bits_) - 1;
  for (const std::uint32_t entry : entries) {
    const std::size_t piece = entry >> code_bits_;
    if (piece < vocabulary()) probabilities[piece] += scale * gains[entry & mask];
  }
}

float Ngram::probability(const NgramState& state, PieceId piece) const {
  float probability = unigram_[piece];
  const std::uint32_t mask = (1U << code_bits_) - 1;
  for (std::size_t index = 0; index < levels_.size(); ++index) {
    const NgramContext& context = state.contexts[index];
    probability *= context.backoff;
    const std::uint32_t node = find(index, context, piece);
    if (node == absent) continue;
    const Level& level = levels_[index];
    const std::uint32_t entry = level.narrow.empty() ? level.wide[node] : level.narrow[node];
    probability += context.scale * level.gains[entry & mask];
  }
  return probability;
}

}  // namespace halfword
