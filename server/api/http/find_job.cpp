#include "server/api/http/find_job.h"

#include "core/base/text.h"
#include "core/model/names.h"
#include "server/store/ticks/ticks.h"

namespace stepscope {
namespace {

// The name in the path, or why it cannot be one.
Result<std::string> NameIn(const PathParameters& path) {
  const std::string& name = path.at("name");
  if (const Status good = CheckJobName(name); !good) return good.error();
  return name;
}

}  // namespace

Result<JobRow> FindNamedJob(Connection& connection, const PathParameters& path) {
  const Result<std::string> name = NameIn(path);
  return name ? FindJob(connection, *name) : Result<JobRow>(name.error());
}

Result<JobHead> FindNamedHead(Connection& connection, const PathParameters& path,
                              const RangesWanted& wanted) {
  const Result<std::string> name = NameIn(path);
  return name ? LoadJobHead(connection, *name, wanted) : Result<JobHead>(name.error());
}

Result<HeadAndTicks> FindHeadAndTicks(Connection& connection, const PathParameters& path,
                                      const RangesWanted& wanted,
                                      const std::optional<TickQuery>& expected) {
  const Result<std::string> name = NameIn(path);
  if (!name) return name.error();
  return LoadHeadAndTicks(connection, *name, wanted, expected);
}

Result<std::int64_t> ReadId(const PathParameters& path, std::string_view what) {
  const std::string& text = path.at("id");
  const Result<std::int64_t> id = ParseInt(text, what);
  if (!id || *id <= 0 || text.size() > 18 || text != std::to_string(*id)) {
    return NotFound(Format("no {} {}", what, Printable(text, 40)));
  }
  return *id;
}

}  // namespace stepscope
