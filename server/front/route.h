#pragma once

#include <cstddef>
#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/result.h"
#include "server/access/right.h"
#include "server/edge/message.h"
#include "server/front/pressure.h"

namespace stepscope {

// The parts of the path that the pattern names, percent-decoded.
using PathParameters = std::map<std::string, std::string, std::less<>>;

inline constexpr std::string_view kJsonType = "application/json";
inline constexpr std::size_t kMostJsonBody = 256 * 1024;

// One call of the API. "{name}" in the pattern stands for one segment of the path. Called from
// several threads at once.
struct Route {
  std::string_view method;   // GET also answers HEAD
  std::string_view pattern;  // "/api/v1/jobs/{name}"
  std::function<Reply(const Request&, const PathParameters&)> handler;
  std::string_view body_type = kJsonType;  // the only content type a body may have
  std::size_t most_body = kMostJsonBody;   // bytes
  Right right = Right::kAdminister;        // what it needs; one that says nothing is for admins
  Traffic traffic = Traffic::kPeople;      // who is refused first when the service is short
};

// What a method and a path lead to.
struct Match {
  const Route* route = nullptr;  // null: nothing there, or not with this method
  PathParameters parameters;
  std::vector<std::string_view> methods;  // those the path does have
};

// Compares segment by segment; no pattern language runs on outside text. Invalid when the path is
// not valid percent-encoding.
Result<Match> FindRoute(const std::vector<Route>& routes, std::string_view method,
                        std::string_view path);

}  // namespace stepscope
