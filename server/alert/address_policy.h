#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/result.h"
#include "core/http/lookup.h"
#include "core/http/url.h"

namespace stepscope {

// A range of addresses: "10.20.0.0/16", "fd00::/8", or one address. IPv4 is kept as ::ffff:a.b.c.d.
struct AddressRange {
  std::array<std::uint8_t, 16> address{};
  int bits = 0;  // how many of the 128 bits count

  bool Contains(const std::array<std::uint8_t, 16>& other) const;
};
Result<AddressRange> ParseAddressRange(std::string_view text);

// Where webhooks may go: to public addresses, and to those that the configuration names. Private,
// link-local, loopback, multicast and reserved ones are refused, so that nobody can make the
// service talk to its own network. Loopback and link-local are allowed only by a range inside of
// them; a range as wide as 0.0.0.0/0 does not allow them. Safe from any thread.
class AddressPolicy {
 public:
  AddressPolicy() = default;
  // From ranges as they are configured; Invalid names the one that is none.
  static Result<AddressPolicy> Read(const std::vector<std::string>& allowed);

  // `address` is numeric. Invalid says which range it is in.
  Status Check(const std::string& address) const;
  // Whether the configuration names the address.
  bool Names(const std::string& address) const;
  bool NamesAny() const { return !allowed_.empty(); }

 private:
  std::vector<AddressRange> allowed_;
};

// Checks a webhook's URL without looking its name up: http or https, a port that webhooks use (any
// other is for addresses that the configuration names), and no refused numeric address. "localhost"
// counts as one.
Status CheckWebhookUrl(const std::string& text, const AddressPolicy& policy);

// The checked addresses of the URL's host, which are the only ones to connect to. The host is
// looked up once. Refused when any of them is. Unavailable when the name cannot be resolved now.
struct WebhookTarget {
  Url url;
  std::vector<std::string> addresses;
};
Result<WebhookTarget> FindTarget(const std::string& text, const AddressPolicy& policy,
                                 const Resolver& resolve);

}  // namespace stepscope
