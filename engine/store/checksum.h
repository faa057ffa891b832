#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

namespace halfword {

/// The CRC-32 of some bytes, as zlib has it. Python uses its own; a page has none.
std::uint32_t crc32(std::span<const std::byte> bytes);

/// The digest of a header, as `digest_of` in core/checksums.py has it: BLAKE2b of 8 bytes over the length and the
/// bytes, as hexadecimal digits.
std::string digest_of(std::span<const std::byte> bytes);

}  // namespace halfword
