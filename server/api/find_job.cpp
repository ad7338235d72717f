#include "server/api/find_job.h"

#include "core/model/names.h"

namespace stepscope {
namespace {

template <typename Found>
Result<Found> FindNamed(Connection& connection, const PathParameters& path,
                        Result<Found> (*find)(Connection&, const std::string& name)) {
  const std::string& name = path.at("name");
  if (const Status good = CheckJobName(name); !good) return good.error();
  return find(connection, name);
}

}  // namespace

Result<JobRow> FindNamedJob(Connection& connection, const PathParameters& path) {
  return FindNamed(connection, path, FindJob);
}

Result<JobHead> FindNamedHead(Connection& connection, const PathParameters& path) {
  return FindNamed(connection, path, LoadJobHead);
}

}  // namespace stepscope
