#pragma once

#include <string>
#include <string_view>

#include "core/base/result.h"

namespace stepscope {

// Where the service listens: host and port, or the path of a unix socket.
struct ListenAddress {
  std::string host = {};  // a name or an address, IPv6 without brackets; empty for a unix socket
  int port = 0;           // 0: any free port
  std::string path = {};

  bool local() const;  // whether only this machine reaches it
  std::string text() const;
};

// Reads "127.0.0.1:8080", "[::1]:8080" or "unix:/run/stepscope.sock".
Result<ListenAddress> ParseListenAddress(std::string_view text);

}  // namespace stepscope
