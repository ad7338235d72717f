#include "server/front/route_table.h"

#include <string>
#include <utility>

#include "core/base/text.h"
#include "server/front/target.h"

namespace stepscope {
namespace {

using Segments = std::vector<std::string_view>;

bool IsName(std::string_view segment) {
  return segment.size() > 2 && segment.front() == '{' && segment.back() == '}';
}

bool Matches(const Segments& pattern, const std::vector<std::string>& segments) {
  if (pattern.size() != segments.size()) return false;
  for (std::size_t at = 0; at < pattern.size(); ++at) {
    const bool named = IsName(pattern[at]) && !segments[at].empty();
    if (!named && pattern[at] != segments[at]) return false;
  }
  return true;
}

PathParameters ParametersOf(const Segments& pattern, const std::vector<std::string>& segments) {
  PathParameters parameters;
  for (std::size_t at = 0; at < pattern.size(); ++at) {
    if (!IsName(pattern[at])) continue;
    parameters.emplace(pattern[at].substr(1, pattern[at].size() - 2), segments[at]);
  }
  return parameters;
}

}  // namespace

RouteTable::RouteTable(std::vector<Route> routes) {
  entries_.reserve(routes.size());
  for (Route& route : routes) {
    const std::string_view pattern = route.pattern;
    entries_.push_back({std::move(route), Split(pattern, '/')});
  }
}

Result<Match> RouteTable::Find(std::string_view method, std::string_view path) const {
  std::vector<std::string> segments;
  for (const std::string_view part : Split(path, '/')) {
    Result<std::string> segment = PercentDecode(part);
    if (!segment) return Invalid("the path is " + segment.error().message);
    segments.push_back(std::move(*segment));
  }
  const std::string_view wanted = method == "HEAD" ? "GET" : method;
  Match match;
  for (const auto& [route, pattern] : entries_) {
    if (!Matches(pattern, segments)) continue;
    match.methods.push_back(route.method);
    if (route.method == "GET") match.methods.push_back("HEAD");
    if (match.route || route.method != wanted) continue;
    match.route = &route;
    match.parameters = ParametersOf(pattern, segments);
  }
  return match;
}

}  // namespace stepscope
