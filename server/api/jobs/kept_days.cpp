#include "server/api/jobs/kept_days.h"

#include "server/api/http/body.h"
#include "server/store/jobs/job_retention.h"

namespace stepscope {

std::optional<std::int64_t> ReadKeptDays(Body& body, const Json& configuration) {
  const auto found = configuration.find(kKeptDays);
  if (found == configuration.end() || found->is_null()) return std::nullopt;
  return body.Integer(configuration, "/configuration", kKeptDays, 0, kMostKeptDays, 0);
}

}  // namespace stepscope
