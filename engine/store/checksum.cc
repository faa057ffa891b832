#include "store/checksum.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>
#include <vector>

namespace halfword {
namespace {

constexpr std::size_t slices = 8;  // bytes read at once

/// crc32_tables[k][b]: what the byte b does to a checksum when k more bytes follow it.
constexpr auto crc32_tables = [] {
  std::array<std::array<std::uint32_t, 256>, slices> tables{};
  for (std::uint32_t byte = 0; byte < 256; ++byte) {
    std::uint32_t value = byte;
    for (int bit = 0; bit < 8; ++bit) value = (value >> 1) ^ ((value & 1U) != 0 ? 0xEDB88320U : 0U);
    tables[0][byte] = value;
  }
  for (std::size_t slice = 1; slice < slices; ++slice) {
    for (std::size_t byte = 0; byte < 256; ++byte) {
      const std::uint32_t before = tables[slice - 1][byte];
      tables[slice][byte] = (before >> 8) ^ tables[0][before & 0xFF];
    }
  }
  return tables;
}();

constexpr std::size_t block_bytes = 128;
constexpr std::size_t digest_bytes = 8;
using Words = std::array<std::uint64_t, 8>;

constexpr Words initial{0x6A09E667F3BCC908U, 0xBB67AE8584CAA73BU, 0x3C6EF372FE94F82BU, 0xA54FF53A5F1D36F1U,
                        0x510E527FADE682D1U, 0x9B05688C2B3E6C1FU, 0x1F83D9ABFB41BD6BU, 0x5BE0CD19137E2179U};

constexpr std::uint8_t order[10][16] = {
    {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15}, {14, 10, 4, 8, 9, 15, 13, 6, 1, 12, 0, 2, 11, 7, 5, 3},
    {11, 8, 12, 0, 5, 2, 15, 13, 10, 14, 3, 6, 7, 1, 9, 4}, {7, 9, 3, 1, 13, 12, 11, 14, 2, 6, 5, 10, 4, 0, 15, 8},
    {9, 0, 5, 7, 2, 4, 10, 15, 14, 1, 11, 12, 6, 8, 3, 13}, {2, 12, 6, 10, 0, 11, 8, 3, 4, 13, 7, 5, 15, 14, 1, 9},
    {12, 5, 1, 15, 14, 13, 4, 10, 0, 7, 6, 3, 9, 2, 8, 11}, {13, 11, 7, 14, 12, 1, 3, 9, 5, 0, 15, 4, 8, 6, 2, 10},
    {6, 15, 14, 9, 11, 3, 0, 8, 12, 2, 13, 7, 1, 4, 10, 5}, {10, 2, 8, 4, 7, 6, 1, 5, 15, 11, 9, 14, 3, 12, 13, 0}};

/// One block of BLAKE2b (RFC 7693).
void compress(Words& state, const std::byte* block, std::uint64_t counted, bool last) {
  std::uint64_t words[16];
  std::memcpy(words, block, sizeof(words));
  std::uint64_t v[16];
  std::copy(state.begin(), state.end(), v);
  std::copy(initial.begin(), initial.end(), v + 8);
  v[12] ^= counted;
  if (last) v[14] = ~v[14];
  const auto mix = [&v](std::size_t a, std::size_t b, std::size_t c, std::size_t d, std::uint64_t x, std::uint64_t y) {
    v[a] += v[b] + x;
    v[d] = std::rotr(v[d] ^ v[a], 32);
    v[c] += v[d];
    v[b] = std::rotr(v[b] ^ v[c], 24);
    v[a] += v[b] + y;
    v[d] = std::rotr(v[d] ^ v[a], 16);
    v[c] += v[d];
    v[b] = std::rotr(v[b] ^ v[c], 63);
  };
  for (std::size_t round = 0; round < 12; ++round) {
    const std::uint8_t* s = order[round % 10];
    for (std::size_t i = 0; i < 4; ++i) mix(i, i + 4, i + 8, i + 12, words[s[2 * i]], words[s[2 * i + 1]]);
    for (std::size_t i = 0; i < 4; ++i) {
      mix(i, (i + 1) % 4 + 4, (i + 2) % 4 + 8, (i + 3) % 4 + 12, words[s[2 * i + 8]], words[s[2 * i + 9]]);
    }
  }
  for (std::size_t i = 0; i < 8; ++i) state[i] ^= v[i] ^ v[i + 8];
}

}  // namespace

std::uint32_t crc32(std::span<const std::byte> bytes) {
  std::uint32_t value = 0xFFFFFFFFU;
  const auto* next = reinterpret_cast<const std::uint8_t*>(bytes.data());
  std::size_t left = bytes.size();
  for (; left >= slices; left -= slices, next += slices) {
    std::uint32_t low;
    std::memcpy(&low, next, sizeof(low));
    low ^= value;
    value = crc32_tables[7][low & 0xFF] ^ crc32_tables[6][(low >> 8) & 0xFF] ^ crc32_tables[5][(low >> 16) & 0xFF] ^
            crc32_tables[4][low >> 24] ^ crc32_tables[3][next[4]] ^ crc32_tables[2][next[5]] ^
            crc32_tables[1][next[6]] ^ crc32_tables[0][next[7]];
  }
  for (; left > 0; --left, ++next) value = (value >> 8) ^ crc32_tables[0][(value ^ *next) & 0xFF];
  return ~value;
}

std::string digest_of(std::span<const std::byte> bytes) {
  const std::uint64_t length = bytes.size();
  std::vector<std::byte> message(sizeof(length) + bytes.size());
  std::memcpy(message.data(), &length, sizeof(length));
  std::copy(bytes.begin(), bytes.end(), message.begin() + sizeof(length));
  const std::size_t counted = message.size();
  message.resize((counted + block_bytes - 1) / block_bytes * block_bytes);
  Words state = initial;
  state[0] ^= 0x01010000U ^ digest_bytes;
  for (std::size_t begin = 0; begin < message.size(); begin += block_bytes) {
    const std::size_t end = begin + block_bytes;
    compress(state, message.data() + begin, std::min(end, counted), end >= counted);
  }
  static constexpr const char* digits = "0123456789abcdef";
  std::string text;
  for (std::size_t i = 0; i < digest_bytes; ++i) {
    const auto byte = static_cast<std::size_t>(state[0] >> (8 * i) & 0xFF);
    text.push_back(digits[byte >> 4]);
    text.push_back(digits[byte & 0xF]);
  }
  return text;
}

}  // namespace halfword
