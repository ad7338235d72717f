#pragma once

#include <array>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/result.h"

namespace stepscope {

// An address as 16 bytes, IPv4 mapped into IPv6. ParsePeer: Invalid for any other text.
using PeerAddress = std::array<unsigned char, 16>;
Result<PeerAddress> ParsePeer(std::string_view text);

// Whether a request from this address was made on this machine: loopback, or a unix socket
// ("unix").
bool IsThisMachine(std::string_view peer);

// The key under which an address is counted: an IPv4 address, or the /64 of an IPv6 one, which is
// what one person gets. Any other text is its own key.
std::string AddressKey(std::string_view peer);

// A range of addresses, such as "10.20.0.0/16", "::1" or "fd00::/8".
struct PeerRange {
  PeerAddress address{};
  int bits = 128;

  bool Holds(const PeerAddress& other) const;
};
Result<PeerRange> ParsePeerRange(std::string_view text);

}  // namespace stepscope
