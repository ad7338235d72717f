#pragma once

#include <string_view>
#include <vector>

#include "core/base/result.h"
#include "server/front/route.h"

namespace stepscope {

// The route that a method and a path lead to.
struct Match {
  const Route* route = nullptr;  // null: no such path, or not with this method
  PathParameters parameters;
  std::vector<std::string_view> methods;  // the methods that the path does have
};

// All calls, with their patterns cut into segments once: each request is looked up twice, by the
// edge and by the worker that answers. Safe from any thread.
class RouteTable {
 public:
  explicit RouteTable(std::vector<Route> routes);

  // Compares segment by segment; no pattern language runs on outside text. Invalid when the path is
  // not valid percent-encoding.
  Result<Match> Find(std::string_view method, std::string_view path) const;

 private:
  struct Entry {
    Route route;
    std::vector<std::string_view> segments;  // segments of its pattern
  };
  std::vector<Entry> entries_;
};

}  // namespace stepscope
