#include "server/access/token.h"

#include <array>
#include <cstdint>

#include "core/base/text.h"
#include "server/access/base62.h"
#include "server/access/digest.h"

namespace stepscope {
namespace {

constexpr std::string_view kBeginning = "st_";

// The CRC-32 of zlib and Ethernet.
constexpr std::uint32_t Crc32(std::string_view text) noexcept {
  std::uint32_t crc = ~0U;
  for (const char c : text) {
    crc ^= static_cast<unsigned char>(c);
    for (int bit = 0; bit < 8; ++bit) crc = (crc >> 1) ^ ((crc & 1U) != 0 ? 0xedb88320U : 0U);
  }
  return ~crc;
}
static_assert(Crc32("123456789") == 0xcbf43926U);

std::array<char, kCheckLetters> CheckOf(std::string_view text) noexcept {
  constexpr auto kLetters = static_cast<std::uint32_t>(kBase62.size());
  std::array<char, kCheckLetters> check{};
  std::uint32_t rest = Crc32(text);
  for (std::size_t at = check.size(); at-- > 0; rest /= kLetters) {
    check[at] = kBase62[rest % kLetters];
  }
  return check;
}

}  // namespace

std::optional<TokenParts> ParseToken(std::string_view text) noexcept {
  if (!text.starts_with(kBeginning)) return std::nullopt;
  const std::size_t role_end = text.find('_', kBeginning.size());
  if (role_end == text.npos) return std::nullopt;
  const auto role = ParseRole(text.substr(kBeginning.size(), role_end - kBeginning.size()));
  const std::string_view rest = text.substr(role_end + 1);
  if (!role || rest.size() != kTokenIdLetters + 1 + kSecretLetters + kCheckLetters ||
      rest[kTokenIdLetters] != '_') {
    return std::nullopt;
  }
  const TokenParts parts{*role, rest.substr(0, kTokenIdLetters),
                         rest.substr(kTokenIdLetters + 1, kSecretLetters)};
  const auto check = CheckOf(text.substr(0, text.size() - kCheckLetters));
  const bool good = IsBase62(parts.id) && IsBase62(parts.secret) &&
                    text.ends_with(std::string_view(check.data(), check.size()));
  return good ? std::optional(parts) : std::nullopt;
}

Result<NewToken> MakeToken(Role role) {
  const Result<std::string> id = RandomBase62(kTokenIdLetters);
  const Result<std::string> secret = RandomBase62(kSecretLetters);
  if (!id || !secret) return Internal("no random bytes from OpenSSL");
  NewToken token{*id, Format("{}{}_{}_{}", kBeginning, ToText(role), *id, *secret),
                 Sha256(*secret)};
  const auto check = CheckOf(token.text);
  token.text.append(check.data(), check.size());
  return token;
}

}  // namespace stepscope
