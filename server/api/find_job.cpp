#include "server/api/find_job.h"

#include "core/model/names.h"

namespace stepscope {

Result<JobRow> FindNamedJob(Connection& connection, const PathParameters& path) {
  const std::string& name = path.at("name");
  if (const Status good = CheckJobName(name); !good) return good.error();
  return FindJob(connection, name);
}

Result<JobHead> FindNamedHead(Connection& connection, const PathParameters& path) {
  const std::string& name = path.at("name");
  if (const Status good = CheckJobName(name); !good) return good.error();
  return LoadJobHead(connection, name);
}

}  // namespace stepscope
