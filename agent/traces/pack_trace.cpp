#include "agent/traces/pack_trace.h"

#include <algorithm>
#include <cctype>

#include "core/base/text.h"
#include "core/wire/compress.h"

namespace stepscope {
namespace {

constexpr std::size_t kPieceBytes = 4 * 1024 * 1024;
constexpr std::string_view kPacked[] = {"\x1f\x8b", "\x28\xb5\x2f\xfd"};

}  // namespace

bool IsPackedTrace(std::string_view bytes) {
  return std::ranges::any_of(kPacked,
                             [&](std::string_view magic) { return bytes.starts_with(magic); });
}

Result<std::string> PackTrace(const ReadTraceBytes& read, std::size_t most) {
  std::string packed, piece(kPieceBytes, '\0');
  bool as_it_is = false;
  for (bool first = true;; first = false) {
    const std::string_view got(piece.data(), read(piece));
    if (got.empty()) break;
    if (first) as_it_is = IsPackedTrace(got);
    packed += as_it_is ? std::string(got) : Compress(got);
    if (packed.size() > most) {
      return Invalid(
          Format("packed it has more than {} MiB; record fewer steps at once", most / 1024 / 1024));
    }
  }
  return packed;
}

std::string QueryEncoded(std::string_view text) {
  std::string encoded;
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    const bool plain = std::isalnum(byte) != 0 || c == '-' || c == '_' || c == '.';
    encoded += plain ? std::string(1, c) : Format("%{:02X}", byte);
  }
  return encoded;
}

}  // namespace stepscope
