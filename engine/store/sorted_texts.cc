#include "store/sorted_texts.h"

#include <algorithm>
#include <array>
#include <stdexcept>

#include "store/coded_numbers.h"

namespace halfword {
namespace {

constexpr std::size_t longest_shared = 255;

void append_length(std::vector<std::uint8_t>& text, std::size_t length) {
  for (; length >= 128; length /= 128) text.push_back(static_cast<std::uint8_t>(128 + length % 128));
  text.push_back(static_cast<std::uint8_t>(length));
}

void append_bytes(std::vector<std::uint8_t>& text, std::string_view bytes) {
  append_length(text, bytes.size());
  text.insert(text.end(), bytes.begin(), bytes.end());
}

std::size_t shared_length(std::string_view left, std::string_view right) {
  const auto ends = std::mismatch(left.begin(), left.end(), right.begin(), right.end());
  return std::min(static_cast<std::size_t>(ends.first - left.begin()), longest_shared);
}

unsigned char as_byte(char byte) { return static_cast<unsigned char>(byte); }

/// Reads one bucket text by text, without putting the texts together. A damaged bucket ends early.
class BucketReader {
 public:
  explicit BucketReader(std::span<const std::uint8_t> bytes) : rest_(bytes) {}

  bool next() {
    std::size_t common = 0;
    if (!first_) {
      if (rest_.empty()) return false;
      common = std::min<std::size_t>(rest_.front(), shared + added.size());
      rest_ = rest_.subspan(1);
    }
    first_ = false;
    std::size_t length = 0;
    if (!take_number(rest_, length) || length > rest_.size()) return false;
    shared = common;
    added = {reinterpret_cast<const char*>(rest_.data()), length};
    rest_ = rest_.subspan(length);
    return true;
  }

  std::size_t shared = 0;  // bytes that the current text has in common with the one before it
  std::string_view added;  // and those that follow

 private:
  std::span<const std::uint8_t> rest_;
  bool first_ = true;
};

/// The first text of a bucket, without copying it.
std::string_view head_of(std::span<const std::uint8_t> bucket) {
  std::size_t length = 0;
  if (!take_number(bucket, length)) return {};
  return {reinterpret_cast<const char*>(bucket.data()), std::min(length, bucket.size())};
}

}  // namespace

SortedTextArrays build_sorted_texts(std::span<const std::string_view> texts) {
  SortedTextArrays arrays;
  for (std::size_t i = 0; i < texts.size(); ++i) {
    if (i % SortedTexts::bucket_size == 0) {
      arrays.bucket_begin.push_back(static_cast<std::uint32_t>(arrays.text.size()));
      append_bytes(arrays.text, texts[i]);
    } else {
      const std::size_t shared = shared_length(texts[i - 1], texts[i]);
      arrays.text.push_back(static_cast<std::uint8_t>(shared));
      append_bytes(arrays.text, texts[i].substr(shared));
    }
    if (arrays.text.size() > UINT32_MAX) throw std::length_error("the texts need more than 4 GiB");
  }
  arrays.bucket_begin.push_back(static_cast<std::uint32_t>(arrays.text.size()));
  return arrays;
}

SortedTexts::SortedTexts(const ModelFile& file, const std::string& part, std::size_t size)
    : text_(file.array<std::uint8_t>(part + ".text")),
      bucket_begin_(file.array<std::uint32_t>(part + ".bucket_begin")),
      size_(size) {
  if (bucket_begin_.size() != (size + bucket_size - 1) / bucket_size + 1) {
    throw ModelFileError("the texts of the part " + part + " do not fit each other");
  }
}

std::span<const std::uint8_t> SortedTexts::bucket(std::size_t index) const {
  const std::size_t end = std::min<std::size_t>(bucket_begin_[index + 1], text_.size());
  const std::size_t begin = std::min<std::size_t>(bucket_begin_[index], end);
  return text_.subspan(begin, end - begin);
}

std::string SortedTexts::at(std::size_t position) const {
  std::string text;
  read(position, text);
  return text;
}

void SortedTexts::expect(std::size_t position) const { __builtin_prefetch(bucket(position / bucket_size).data()); }

void SortedTexts::read(std::size_t position, std::string& text) const {
  struct Part {
    std::size_t shared;
    std::string_view added;
  };
  std::array<Part, bucket_size> parts;
  std::size_t read = 0;
  for (BucketReader reader(bucket(position / bucket_size)); read <= position % bucket_size && reader.next(); ++read) {
    parts[read] = {reader.shared, reader.added};
  }
  text.clear();
  if (read == 0) return;
  // From its end to its beginning, each part of the text is copied from the entry that has it, once.
  text.resize(parts[read - 1].shared + parts[read - 1].added.size());
  for (std::size_t missing = text.size(); missing > 0; --read) {
    const auto& [shared, added] = parts[read - 1];
    if (shared >= missing) continue;
    added.copy(text.data() + shared, missing - shared);
    missing = shared;
  }
}

/// The last bucket in [low, high) whose first text is not after `text`; `low` if there is none. Where it begins after
/// the first bucket of all, it is likely to end nearby, so the steps are short at first.
std::size_t SortedTexts::last_bucket_not_after(std::string_view text, std::size_t low, std::size_t high) const {
  for (std::size_t step = 1; low > 0 && step < high - low; step *= 2) {
    if (head_of(bucket(low + step)) > text) {
      high = low + step;
      break;
    }
    low += step;
  }
  while (high - low > 1) {
    const std::size_t middle = low + (high - low) / 2;
    (head_of(bucket(middle)) <= text ? low : high) = middle;
  }
  return low;
}

SortedTexts::Place SortedTexts::lower_bound(std::string_view text, std::size_t begin, std::size_t last) const {
  if (begin >= last) return {last, false};
  const std::size_t buckets = (last + bucket_size - 1) / bucket_size;
  const std::size_t index = last_bucket_not_after(text, begin / bucket_size, buckets);
  std::size_t position = index * bucket_size;
  const std::size_t end = std::min(position + bucket_size, size_);
  std::size_t common = 0;  // bytes that the text has in common with the current one, which comes before it
  for (BucketReader reader(bucket(index)); position < end && reader.next(); ++position) {
    if (reader.shared > common) continue;  // it differs from the text as the one before it does
    const std::string_view rest = text.substr(reader.shared);
    const auto ends = std::mismatch(rest.begin(), rest.end(), reader.added.begin(), reader.added.end());
    if (ends.first == rest.end()) return {position, ends.second == reader.added.end()};
    const bool before = ends.second == reader.added.end() || as_byte(*ends.second) < as_byte(*ends.first);
    if (!before) return {position, false};
    common = reader.shared + static_cast<std::size_t>(ends.first - rest.begin());
  }
  // The next bucket begins after `text`, or there is none.
  return {end, false};
}

}  // namespace halfword
