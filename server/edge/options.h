#pragma once

#include <cstddef>
#include <functional>
#include <string>

#include "core/base/time.h"
#include "server/edge/http/head.h"
#include "server/edge/http/inflate.h"

namespace stepscope {

// The bounds of the edge. All deadlines are absolute: nobody holds a connection by sending or
// reading a little now and then.
struct EdgeOptions {
  // A request for samples holds a worker while its group is committed, a page while the database
  // answers; frames of agents hold none.
  std::size_t workers = 48;
  std::size_t most_connections = 4'096;
  std::size_t most_per_address = 64;  // connections that never had a caller; 0: no limit
  std::function<bool(const std::string&)> speaks_for_many = {};  // addresses without that limit
  std::size_t most_queued = 256;                                 // requests that wait for a worker
  std::size_t most_body_bytes = 256 * 1024 * 1024;               // of all requests at once
  // Bodies beyond a MiB wait in files without a name in this folder, where a route allows it; "":
  // there is none, and they are refused.
  std::string body_folder = {};
  std::size_t most_body_file_bytes = std::size_t{8} << 30;  // of all files at once
  std::size_t most_answer_bytes = 256 * 1024 * 1024;  // not sent yet, of all connections at once

  Duration handshake_within = 10s;
  Duration head_within = 10s;  // from the first byte of a request
  Duration body_within = 10s;  // 1 s more for each 64 KiB
  Duration body_slack = 5s;    // then at least 1 KiB a second
  Duration answer_within = 30s;
  Duration write_within = 30s;  // since the client last read, and in all 1 s more for each 64 KiB
  Duration idle_within = 75s;   // a connection between two requests
  Duration drain_within = 2s;   // for the client to notice that nothing more comes

  HeadLimits head = {};
  InflateLimits inflate = {};
};

}  // namespace stepscope
