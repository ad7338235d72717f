#pragma once

#include <cstddef>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <string_view>

#include "server/access/right.h"
#include "server/edge/handlers.h"
#include "server/front/pressure.h"

namespace stepscope {

// The parts of the path that the pattern names, percent-decoded.
using PathParameters = std::map<std::string, std::string, std::less<>>;

inline constexpr std::string_view kJsonType = "application/json";
inline constexpr std::string_view kBytesType = "application/octet-stream";
inline constexpr std::size_t kMostJsonBody = 256 * 1024;

// One call of the API. "{name}" in the pattern stands for one segment of the path. Called from
// several threads at once.
struct Route {
  std::string_view method;   // GET also answers HEAD
  std::string_view pattern;  // "/api/v1/jobs/{name}"
  std::function<Reply(const Request&, const PathParameters&)> handler = {};
  // In its place where the reply waits for others: `head` is the request without its body, which
  // nobody needs once it was read. False only where it may not wait and would have to: nothing was
  // done, and nothing is kept of what it was given.
  std::function<bool(const std::shared_ptr<const Request>& head, std::string_view body,
                     const Respond& respond, MayWait may_wait)>
      later = {};
  bool at_once = false;  // `later` is tried on the edge's own thread first, where it may not wait
  Duration answer_within{};                // 0: as the edge's options say
  std::string_view body_type = kJsonType;  // the only content type a body may have
  std::size_t most_body = kMostJsonBody;   // bytes
  bool body_to_file = false;               // a large body waits in a file: read it by ReadBody
  Right right = Right::kAdminister;        // the right that it needs; without one it is for admins
  Traffic traffic = Traffic::kPeople;      // who is refused first when the service is short
};

}  // namespace stepscope
