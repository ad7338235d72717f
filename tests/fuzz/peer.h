#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>

namespace stepscope {

// The first request in some bytes as another parser reads it.
struct PeerRequest {
  std::string method, target;
  int minor_version = 0;
  std::map<std::string, std::string> headers;  // lower case, trimmed, joined by ", "
  std::string body;                            // without chunk framing
  bool keep_alive = false;
  std::size_t bytes = 0;  // length of the whole request
};

// Whether the other parser reads requests of this method; none when it is not installed
// (peer_none.cpp).
bool PeerKnows(std::string_view method);

// Nothing when the other parser refuses the bytes or wants more.
std::optional<PeerRequest> ReadAsPeer(std::string_view bytes);

}  // namespace stepscope
