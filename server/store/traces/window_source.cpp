#include "server/store/traces/window_source.h"

#include "core/base/text.h"

namespace stepscope {
namespace {

constexpr char kFindSource[] = R"(
select source
from windows
where job_id = $1 and window_id = $2)";

}  // namespace

Result<std::string> FindWindowSource(Connection& connection, std::int64_t job_id,
                                     std::int64_t window_id) {
  const Result<Rows> source = connection.Query(kFindSource, {job_id, window_id});
  if (!source) return source.error();
  if (source->empty()) return NotFound(Format("there is no window {}", window_id));
  return source->Text(0, 0);
}

}  // namespace stepscope
