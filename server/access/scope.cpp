#include "server/access/scope.h"

#include "core/base/text.h"
#include "core/model/names.h"
#include "server/store/jobs/scope_patterns.h"

namespace stepscope {

Status CheckScope(std::string_view scope) {
  if (!scope.ends_with('*')) return CheckJobName(scope);
  std::string_view beginning = scope.substr(0, scope.size() - 1);
  if (beginning.empty()) return Invalid("scope '*': leave the scopes out for all jobs");
  while (beginning.ends_with('-')) beginning.remove_suffix(1);
  if (const Status good = CheckJobName(beginning); !good || scope.size() > 64) {
    return Invalid(
        Format("scope '{}': the beginning of a job name and '*' are wanted, such as "
               "team-a-*",
               Printable(scope, 80)));
  }
  return {};
}

Status CheckNodeScope(std::string_view scope) {
  if (scope == "*") return Invalid("node '*': leave the nodes out for all");
  return CheckLabel("node", scope);
}

bool Covers(std::span<const std::string> scopes, std::string_view name) {
  return scopes.empty() || IsWithin(scopes, name);
}

}  // namespace stepscope
