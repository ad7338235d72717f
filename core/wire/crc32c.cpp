#include "core/wire/crc32c.h"

#include <array>
#include <bit>
#include <cstddef>
#include <cstring>

#if defined(__x86_64__)
#include <nmmintrin.h>
#endif

namespace stepscope {
namespace {

// Slicing by four: kTables[k][b] is the effect of byte b, k bytes further on.
constexpr auto kTables = [] {
  std::array<std::array<std::uint32_t, 256>, 4> tables{};
  for (std::uint32_t byte = 0; byte < 256; ++byte) {
    std::uint32_t crc = byte;
    for (int bit = 0; bit < 8; ++bit) crc = (crc >> 1) ^ ((crc & 1) != 0 ? 0x82f63b78U : 0);
    tables[0][byte] = crc;
  }
  for (std::size_t byte = 0; byte < 256; ++byte) {
    for (std::size_t k = 1; k < 4; ++k) {
      const std::uint32_t before = tables[k - 1][byte];
      tables[k][byte] = (before >> 8) ^ tables[0][before & 0xff];
    }
  }
  return tables;
}();

std::uint32_t PortableCrc32c(std::uint32_t crc, std::string_view bytes) {
  for (; bytes.size() >= 4; bytes.remove_prefix(4)) {
    std::uint32_t word;
    std::memcpy(&word, bytes.data(), sizeof(word));
    crc ^= word;
    crc = kTables[3][crc & 0xff] ^ kTables[2][(crc >> 8) & 0xff] ^ kTables[1][(crc >> 16) & 0xff] ^
          kTables[0][crc >> 24];
  }
  for (const char c : bytes)
    crc = (crc >> 8) ^ kTables[0][(crc ^ static_cast<std::uint8_t>(c)) & 0xff];
  return crc;
}

#if defined(__x86_64__)
__attribute__((target("sse4.2"))) std::uint32_t FastCrc32c(std::uint32_t start,
                                                           std::string_view bytes) {
  std::uint64_t crc = start;
  for (; bytes.size() >= 8; bytes.remove_prefix(8)) {
    std::uint64_t word;
    std::memcpy(&word, bytes.data(), sizeof(word));
    crc = _mm_crc32_u64(crc, word);
  }
  auto narrow = static_cast<std::uint32_t>(crc);
  for (const char c : bytes) narrow = _mm_crc32_u8(narrow, static_cast<std::uint8_t>(c));
  return narrow;
}
#endif

}  // namespace

std::uint32_t Crc32c(std::string_view bytes, std::uint32_t before) {
#if defined(__x86_64__)
  if (__builtin_cpu_supports("sse4.2")) return ~FastCrc32c(~before, bytes);
#endif
  return ~PortableCrc32c(~before, bytes);
}

}  // namespace stepscope
