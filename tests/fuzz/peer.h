#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>

namespace stepscope {

// The first request in some bytes as another parser understands it.
struct PeerRequest {
  std::string method, target;
  int minor_version = 0;
  std::map<std::string, std::string> headers;  // lower case, trimmed, joined by ", "
  std::string body;                            // without the frames of chunks
  bool keep_alive = false;
  std::size_t bytes = 0;  // length of the whole request
};

// Whether the peer reads requests of this method. It knows none when it is not there
// (peer_none.cpp).
bool PeerKnows(std::string_view method);

// Nothing when the peer refuses the bytes or wants more.
std::optional<PeerRequest> ReadAsPeer(std::string_view bytes);

}  // namespace stepscope
