#include "core/base/peer_address.h"

#include <arpa/inet.h>

#include <algorithm>

#include "core/base/text.h"

namespace stepscope {
namespace {

constexpr int kMappedBits = 96;  // length of the prefix of a mapped IPv4 address
constexpr std::size_t kLongest = 45;

bool IsMapped(const PeerAddress& address) {
  const bool zeros =
      std::all_of(address.begin(), address.begin() + 10, [](int b) { return b == 0; });
  return zeros && address[10] == 0xff && address[11] == 0xff;
}

}  // namespace

Result<PeerAddress> ParsePeer(std::string_view text) {
  const std::string line(text.substr(0, kLongest + 1));
  PeerAddress address{};
  if (inet_pton(AF_INET6, line.c_str(), address.data()) == 1) return address;
  if (inet_pton(AF_INET, line.c_str(), address.data() + 12) != 1) {
    return Invalid(Format("'{}' is not an address", Printable(text, 64)));
  }
  address[10] = address[11] = 0xff;
  return address;
}

bool IsThisMachine(std::string_view peer) {
  if (peer == "unix") return true;
  const Result<PeerAddress> address = ParsePeer(peer);
  if (!address) return false;
  if (IsMapped(*address)) return (*address)[12] == 127;
  PeerAddress loopback{};
  loopback[15] = 1;
  return *address == loopback;
}

std::string AddressKey(std::string_view peer) {
  const Result<PeerAddress> address = ParsePeer(peer);
  if (!address) return std::string(peer);
  const auto* bytes = reinterpret_cast<const char*>(address->data());
  return IsMapped(*address) ? std::string(bytes + 12, 4) : std::string(bytes, 8);
}

bool PeerRange::Holds(const PeerAddress& other) const {
  const auto whole = static_cast<std::size_t>(bits / 8);
  if (!std::equal(address.begin(), address.begin() + whole, other.begin())) return false;
  const int rest = bits % 8;
  return rest == 0 || (address[whole] ^ other[whole]) >> (8 - rest) == 0;
}

Result<PeerRange> ParsePeerRange(std::string_view text) {
  const std::size_t slash = text.find('/');
  const Result<PeerAddress> address = ParsePeer(text.substr(0, slash));
  if (!address) return address.error();
  PeerRange range{*address, 128};
  if (slash == text.npos) return range;
  const int front = text.find(':') == text.npos ? kMappedBits : 0;
  const Result<std::int64_t> bits = ParseInt(text.substr(slash + 1), "bits");
  if (!bits || *bits < 0 || *bits > 128 - front) {
    return Invalid(Format("'{}' is not a range such as 10.20.0.0/16", Printable(text, 64)));
  }
  range.bits = static_cast<int>(*bits) + front;
  return range;
}

}  // namespace stepscope
