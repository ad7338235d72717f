#include "server/edge/addresses.h"

#include <arpa/inet.h>

namespace stepscope {
namespace {

constexpr std::size_t kNetworkBytes = 8;

std::string NetworkOf(const std::string& peer) {
  in6_addr address{};
  if (inet_pton(AF_INET6, peer.c_str(), &address) != 1) return peer;
  return "6" + std::string(reinterpret_cast<const char*>(address.s6_addr), kNetworkBytes);
}

}  // namespace

bool Addresses::Add(const std::string& peer, std::string& key) {
  key.clear();
  if (most_ == 0 || peer == "unix") return true;
  if (speaks_for_many_ && speaks_for_many_(peer)) return true;
  const std::string network = NetworkOf(peer);
  std::size_t& count = counts_[network];
  if (count >= most_) return false;
  ++count;
  key = network;
  return true;
}

void Addresses::Remove(std::string& key) {
  const auto found = counts_.find(key);
  if (found != counts_.end() && --found->second == 0) counts_.erase(found);
  key.clear();
}

}  // namespace stepscope
