// Tokens: exactly the texts of the right shape and with the check that a second CRC-32 gives are
// tokens; a changed letter makes one invalid. Scopes cover only names that begin with them.

#include "server/access/token.h"

#include <zlib.h>

#include <algorithm>

#include "core/base/text.h"
#include "server/access/scope.h"
#include "tests/fuzz/fuzz.h"

namespace stepscope {
namespace {

bool IsLettersAndDigits(std::string_view text) {
  return std::ranges::all_of(text, [](char byte) {
    return (byte >= '0' && byte <= '9') || (byte >= 'A' && byte <= 'Z') ||
           (byte >= 'a' && byte <= 'z');
  });
}

// Whether the text is st_<role>_<id>_<secret>.
bool HasShape(std::string_view text) {
  const auto parts = Split(text, '_');
  return parts.size() == 4 && parts[0] == "st" && ParseRole(parts[1]) &&
         parts[2].size() == kTokenIdLetters && IsLettersAndDigits(parts[2]) &&
         parts[3].size() == kSecretLetters && IsLettersAndDigits(parts[3]);
}

std::string CheckOf(std::string_view text) {
  constexpr std::string_view kLetters =
      "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";
  auto rest = crc32(0, reinterpret_cast<const Bytef*>(text.data()), static_cast<uInt>(text.size()));
  std::string check(kCheckLetters, '0');
  for (std::size_t at = check.size(); at-- > 0; rest /= kLetters.size()) {
    check[at] = kLetters[rest % kLetters.size()];
  }
  return check;
}

void CheckToken(std::string_view bytes) {
  Require(!ParseToken(bytes) || HasShape(bytes.substr(0, bytes.size() - kCheckLetters)),
          "whatever is read as a token has its shape", bytes);
  const std::string token = std::string(bytes) + CheckOf(bytes);
  const std::optional<TokenParts> parts = ParseToken(token);
  Require(parts.has_value() == HasShape(bytes), "what has shape and check is a token", token);
  if (!parts) return;
  for (std::size_t at = 0; at < token.size(); ++at) {
    std::string changed = token;
    changed[at] = changed[at] == 'x' ? 'y' : 'x';
    Require(!ParseToken(changed), "a changed token is none", changed);
  }
}

void CheckScopes(std::string_view bytes) {
  const std::size_t half = bytes.size() / 2;
  const std::string scope(bytes.substr(0, half));
  const std::string_view job = bytes.substr(half);
  const std::string scopes[] = {scope};
  if (!CheckScope(scope).ok() || !Covers(scopes, job)) return;
  const std::string_view prefix = std::string_view(scope).substr(0, scope.find('*'));
  Require(job.starts_with(prefix), "a scope covers only names that begin with it");
  if (!scope.ends_with('*')) RequireSame(job, scope, "a scope without * is one name");
}

}  // namespace
}  // namespace stepscope

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view bytes = stepscope::ToBytes(data, size);
  stepscope::CheckToken(bytes);
  stepscope::CheckScopes(bytes);
  return 0;
}
