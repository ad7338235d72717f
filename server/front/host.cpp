#include "server/front/host.h"

#include <algorithm>

#include "core/base/peer_address.h"

namespace stepscope {

std::string_view HostName(std::string_view host) {
  if (host.starts_with('[')) return host.substr(0, std::min(host.find(']') + 1, host.size()));
  return host.substr(0, host.find(':'));
}

bool IsHostAddress(std::string_view name) {
  if (name.starts_with('[') && name.ends_with(']')) name = name.substr(1, name.size() - 2);
  return ParsePeer(name).ok();
}

}  // namespace stepscope
