#include "server/front/route.h"

#include <optional>

#include "core/base/text.h"
#include "server/front/target.h"

namespace stepscope {
namespace {

bool IsName(std::string_view segment) {
  return segment.size() > 2 && segment.front() == '{' && segment.back() == '}';
}

std::optional<PathParameters> Compare(std::string_view pattern,
                                      const std::vector<std::string>& segments) {
  const std::vector<std::string_view> wanted = Split(pattern, '/');
  if (wanted.size() != segments.size()) return std::nullopt;
  PathParameters parameters;
  for (std::size_t at = 0; at < wanted.size(); ++at) {
    if (IsName(wanted[at]) && !segments[at].empty()) {
      parameters.emplace(wanted[at].substr(1, wanted[at].size() - 2), segments[at]);
    } else if (wanted[at] != segments[at]) {
      return std::nullopt;
    }
  }
  return parameters;
}

}  // namespace

Result<Match> FindRoute(const std::vector<Route>& routes, std::string_view method,
                        std::string_view path) {
  std::vector<std::string> segments;
  for (const std::string_view part : Split(path, '/')) {
    Result<std::string> segment = PercentDecode(part);
    if (!segment) return Invalid("the path is " + segment.error().message);
    segments.push_back(std::move(*segment));
  }
  const std::string_view wanted = method == "HEAD" ? "GET" : method;
  Match match;
  for (const Route& route : routes) {
    std::optional<PathParameters> parameters = Compare(route.pattern, segments);
    if (!parameters) continue;
    match.methods.push_back(route.method);
    if (route.method == "GET") match.methods.push_back("HEAD");
    if (match.route || route.method != wanted) continue;
    match.route = &route;
    match.parameters = std::move(*parameters);
  }
  return match;
}

}  // namespace stepscope
