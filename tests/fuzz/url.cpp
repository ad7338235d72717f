// URLs of webhooks: each has one reading, and no URL that the policy permits leads to a network of
// our own. The lines behind the first are the addresses that the resolver gives for the host.

#include "core/http/url.h"

#include <arpa/inet.h>

#include <algorithm>
#include <array>

#include "core/base/text.h"
#include "server/alert/address_policy.h"
#include "tests/fuzz/fuzz.h"

namespace stepscope {
namespace {

// A second check, kept apart from the policy's own table. `v4` are four bytes.
bool IsOurs(const std::uint8_t* v4) {
  return v4[0] == 0 || v4[0] == 10 || v4[0] == 127 || v4[0] >= 224 ||
         (v4[0] == 169 && v4[1] == 254) || (v4[0] == 192 && v4[1] == 168) ||
         (v4[0] == 172 && v4[1] >= 16 && v4[1] < 32) || (v4[0] == 100 && v4[1] / 64 == 1);
}

bool IsOurs(const std::string& address) {
  std::array<std::uint8_t, 16> bytes{};
  if (inet_pton(AF_INET, address.c_str(), bytes.data()) == 1) return IsOurs(bytes.data());
  if (inet_pton(AF_INET6, address.c_str(), bytes.data()) != 1) return false;
  constexpr std::array<std::uint8_t, 12> kMapped = {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff};
  if (std::equal(kMapped.begin(), kMapped.end(), bytes.begin())) return IsOurs(bytes.data() + 12);
  const bool translated = bytes[0] == 0 && bytes[1] == 0x64 && bytes[2] == 0xff &&
                          bytes[3] == 0x9b &&
                          std::all_of(&bytes[4], &bytes[12], [](auto byte) { return byte == 0; });
  if (translated) return IsOurs(bytes.data() + 12);
  if (bytes[0] == 0x20 && bytes[1] == 0x02) return IsOurs(bytes.data() + 2);
  return std::all_of(&bytes[0], &bytes[12], [](auto byte) { return byte == 0; }) ||
         (bytes[0] & 0xfe) == 0xfc || bytes[0] == 0xff || (bytes[0] == 0xfe && bytes[1] / 64 == 2);
}

void CheckReading(const std::string& text) {
  const Result<Url> url = ParseUrl(text);
  if (!url) return;
  for (const char byte : url->host + url->target) {
    Require(byte > 0x20 && byte < 0x7f, "no blank, control or foreign character in a URL");
  }
  Require(url->host.find_first_of("/@?#\\") == std::string::npos, "the host is only a host");
  Require(!url->host.empty() && url->port != 0, "host and port are there");
  const Result<Url> again = ParseUrl(url->ToText());
  Require(again.ok(), "what a URL says reads again", url->ToText());
  RequireSame(again->ToText(), url->ToText(), "a URL has one reading");
  RequireSame(again->host, url->host, "a URL has one host");
}

void CheckTarget(const std::string& text, const std::vector<std::string>& addresses) {
  const AddressPolicy policy;
  const Resolver resolver = [&](const std::string&) {
    return addresses.empty() ? Result<std::vector<std::string>>(Unavailable("no address"))
                             : Result(addresses);
  };
  const Result<WebhookTarget> target = FindTarget(text, policy, resolver);
  if (!target) return;
  Require(CheckWebhookUrl(text, policy).ok(), "a target is one that could be configured");
  Require(!target->addresses.empty(), "a target has an address");
  for (const std::string& address : target->addresses) {
    Require(!IsOurs(address), "no target is in a network of ours", address);
  }
  if (IsNumericHost(target->url.host)) return;
  Require(target->addresses == addresses, "no address of a name is left out");
}

}  // namespace
}  // namespace stepscope

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace stepscope;
  const auto lines = Split(ToBytes(data, std::min<std::size_t>(size, 4096)), '\n');
  const std::string text(lines[0]);
  CheckReading(text);
  CheckTarget(text, {lines.begin() + 1, lines.end()});
  return 0;
}
