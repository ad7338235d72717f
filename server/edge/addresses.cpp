#include "server/edge/addresses.h"

#include "core/base/peer_address.h"

namespace stepscope {

bool Addresses::Add(const std::string& peer, std::string& key) {
  key.clear();
  if (most_ == 0 || peer == "unix") return true;
  if (speaks_for_many_ && speaks_for_many_(peer)) return true;
  std::string network = AddressKey(peer);
  std::size_t& count = counts_[network];
  if (count >= most_) return false;
  ++count;
  key = std::move(network);
  return true;
}

void Addresses::Remove(std::string& key) {
  const auto found = counts_.find(key);
  if (found != counts_.end() && --found->second == 0) counts_.erase(found);
  key.clear();
}

}  // namespace stepscope
