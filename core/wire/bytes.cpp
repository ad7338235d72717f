#include "core/wire/bytes.h"

namespace stepscope {

void PutVarint(std::string& bytes, std::uint64_t value) {
  for (; value >= 0x80; value >>= 7) bytes += static_cast<char>((value & 0x7f) | 0x80);
  bytes += static_cast<char>(value);
}

void PutText(std::string& bytes, std::string_view text) {
  PutVarint(bytes, text.size());
  bytes += text;
}

std::string_view ByteReader::TakeBytes(std::size_t count) {
  if (count > left_.size()) {
    Fail();
    return {};
  }
  const std::string_view bytes = left_.substr(0, count);
  left_.remove_prefix(count);
  return bytes;
}

std::uint64_t ByteReader::TakeVarint() {
  std::uint64_t value = 0;
  for (int shift = 0; shift < 64; shift += 7) {
    const std::uint64_t byte = Take<std::uint8_t>();
    // The tenth byte holds one bit only; more would be lost.
    if (shift == 63 && byte > 1) break;
    value |= (byte & 0x7f) << shift;
    if (byte < 0x80) return ok_ ? value : 0;
  }
  Fail();
  return 0;
}

std::string_view ByteReader::TakeText(std::size_t longest) {
  const std::uint64_t length = TakeVarint();
  if (length > longest) {
    Fail();
    return {};
  }
  return TakeBytes(static_cast<std::size_t>(length));
}

}  // namespace stepscope
