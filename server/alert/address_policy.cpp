#include "server/alert/address_policy.h"

#include <arpa/inet.h>
#include <sys/socket.h>

#include <algorithm>
#include <cstring>
#include <optional>

#include "core/base/text.h"

namespace stepscope {
namespace {

using Address = std::array<std::uint8_t, 16>;

struct Refused {
  std::string_view range;
  std::string_view what;
  bool by_name = false;  // an address in it is allowed only by a range inside of it
};
constexpr Refused kRefused[] = {
    {"0.0.0.0/8", "this network"},
    {"10.0.0.0/8", "private"},
    {"100.64.0.0/10", "shared"},
    {"127.0.0.0/8", "loopback", true},
    {"169.254.0.0/16", "link-local", true},
    {"172.16.0.0/12", "private"},
    {"192.0.0.0/24", "reserved"},
    {"192.0.2.0/24", "for documentation"},
    {"192.88.99.0/24", "reserved"},
    {"192.168.0.0/16", "private"},
    {"198.18.0.0/15", "for benchmarks"},
    {"198.51.100.0/24", "for documentation"},
    {"203.0.113.0/24", "for documentation"},
    {"224.0.0.0/3", "multicast or reserved"},
    {"::/96", "reserved"},
    {"::1/128", "loopback", true},
    {"::ffff:0:0:0/96", "reserved"},
    {"64:ff9b:1::/48", "for translation at this site"},
    {"100::/64", "reserved"},
    {"2001::/23", "reserved"},
    {"2001:db8::/32", "for documentation"},
    {"3fff::/20", "for documentation"},
    {"5f00::/16", "reserved"},
    {"fc00::/7", "private"},
    {"fe80::/10", "link-local", true},
    {"fec0::/10", "private"},
    {"ff00::/8", "multicast"},
};
constexpr std::uint16_t kPorts[] = {80, 443, 8080, 8443};

Address Mapped(const std::uint8_t* v4) {
  Address address{};
  address[10] = address[11] = 0xff;
  std::copy(v4, v4 + 4, address.begin() + 12);
  return address;
}

std::optional<Address> ParseAddress(const std::string& text, bool* is_v4 = nullptr) {
  std::uint8_t bytes[16];
  const bool v4 = inet_pton(AF_INET, text.c_str(), bytes) == 1;
  if (is_v4 != nullptr) *is_v4 = v4;
  if (v4) return Mapped(bytes);
  if (inet_pton(AF_INET6, text.c_str(), bytes) != 1) return std::nullopt;
  Address address;
  std::copy(std::begin(bytes), std::end(bytes), address.begin());
  return address;
}

// The IPv4 address that a translated (64:ff9b::/96) or a tunnelled (2002::/16) address leads to.
std::optional<Address> Inner(const Address& address) {
  constexpr std::uint8_t kTranslated[12] = {0, 0x64, 0xff, 0x9b};
  if (std::equal(std::begin(kTranslated), std::end(kTranslated), address.begin())) {
    return Mapped(address.data() + 12);
  }
  if (address[0] == 0x20 && address[1] == 0x02) return Mapped(address.data() + 2);
  return std::nullopt;
}

// The address of a host that needs no resolver; "" where it does.
std::string KnownAddress(const std::string& host) {
  if (IsNumericHost(host)) return host;
  return host == "localhost" || host.ends_with(".localhost") ? "127.0.0.1" : "";
}

Error WrongPort(const Url& url) {
  return Invalid(
      Format("webhook {}: port {} is not 80, 443, 8080 or 8443", url.ToText(), url.port));
}

Status CheckAddress(const Url& url, const std::string& address, const AddressPolicy& policy) {
  if (Status checked = policy.Check(address); !checked) {
    return Invalid(Format("webhook {}: {}", url.ToText(), checked.error().message));
  }
  if (std::ranges::count(kPorts, url.port) > 0 || policy.Names(address)) return {};
  return WrongPort(url);
}

}  // namespace

bool AddressRange::Contains(const Address& other) const {
  const int whole = bits / 8, rest = bits % 8;
  if (!std::equal(address.begin(), address.begin() + whole, other.begin())) return false;
  const auto at = static_cast<std::size_t>(whole);
  return rest == 0 || ((address[at] ^ other[at]) >> (8 - rest)) == 0;
}

Result<AddressRange> ParseAddressRange(std::string_view text) {
  const auto slash = text.find('/');
  bool v4 = false;
  const auto address = ParseAddress(std::string(text.substr(0, slash)), &v4);
  const int most = v4 ? 32 : 128;
  std::int64_t bits = most;
  if (slash != text.npos) {
    const auto given = ParseInt(text.substr(slash + 1), "bits");
    bits = given.ok() ? *given : -1;
  }
  if (!address || bits < 0 || bits > most) {
    return Invalid(Format("'{}' is no range of addresses such as 10.20.0.0/16 or fd00::/8",
                          Printable(text, 80)));
  }
  return AddressRange{*address, static_cast<int>(bits) + (v4 ? 96 : 0)};
}

Result<AddressPolicy> AddressPolicy::Read(const std::vector<std::string>& allowed) {
  AddressPolicy policy;
  for (const std::string& text : allowed) {
    const auto range = ParseAddressRange(text);
    if (!range.ok()) return range.error();
    policy.allowed_.push_back(*range);
  }
  return policy;
}

bool AddressPolicy::Names(const std::string& text) const {
  const auto address = ParseAddress(text);
  return address && std::ranges::any_of(allowed_, [&](const AddressRange& range) {
           return range.Contains(*address);
         });
}

Status AddressPolicy::Check(const std::string& text) const {
  const auto address = ParseAddress(text);
  if (!address) return Invalid(Format("'{}' is no address", Printable(text, 80)));
  const auto inner = Inner(*address);
  for (const Refused& refused : kRefused) {
    const AddressRange range = *ParseAddressRange(refused.range);
    if (!range.Contains(*address) && !(inner && range.Contains(*inner))) continue;
    const bool allowed = std::ranges::any_of(allowed_, [&](const AddressRange& given) {
      const bool narrow =
          !refused.by_name || (given.bits >= range.bits && range.Contains(given.address));
      return narrow && given.Contains(*address);
    });
    if (!allowed) {
      return Invalid(Format("its address {} is {} ({}) and not allowed by --webhook-allow", text,
                            refused.what, refused.range));
    }
  }
  return {};
}

Status CheckWebhookUrl(const std::string& text, const AddressPolicy& policy) {
  const auto url = ParseUrl(text);
  if (!url.ok()) return url.error();
  const std::string address = KnownAddress(url->host);
  if (!address.empty()) return CheckAddress(*url, address, policy);
  const bool usual = std::ranges::count(kPorts, url->port) > 0;
  return usual || policy.NamesAny() ? Status() : Status(WrongPort(*url));
}

Result<WebhookTarget> FindTarget(const std::string& text, const AddressPolicy& policy,
                                 const Resolver& resolve) {
  if (Status taken = CheckWebhookUrl(text, policy); !taken) return taken.error();
  auto url = ParseUrl(text);
  if (!url.ok()) return url.error();
  const std::string known = KnownAddress(url->host);
  auto addresses = known.empty() ? resolve(url->host) : Result(std::vector{known});
  if (!addresses.ok()) return addresses.error();
  if (addresses->empty()) return Unavailable(Format("{} has no address", url->host));
  for (const std::string& address : *addresses) {
    if (Status checked = CheckAddress(*url, address, policy); !checked) return checked.error();
  }
  return WebhookTarget{std::move(*url), std::move(*addresses)};
}

}  // namespace stepscope
