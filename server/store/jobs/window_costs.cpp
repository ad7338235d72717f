#include "server/store/jobs/window_costs.h"

#include "server/store/postgres/cursor.h"

namespace stepscope {
namespace {

constexpr char kListCosts[] = R"(
select windows.window_id, asked_by, asked_us, count(rank), coalesce(max(
    coalesce((summary -> 'capture' ->> 'start_seconds')::float8, 0)
    + coalesce((summary -> 'capture' ->> 'stop_seconds')::float8, 0)
    + coalesce((summary -> 'capture' ->> 'save_seconds')::float8, 0)
    + coalesce((summary -> 'capture' ->> 'slower_seconds')::float8, 0)), 0)
from windows
left join traces
    on traces.job_id = windows.job_id and traces.window_id = windows.window_id
where windows.job_id = $1 and (source = 'operators' or asked_by <> 'person')
group by windows.window_id, asked_by, asked_us
order by windows.window_id desc
limit 1000)";
constexpr char kNoteWindow[] = R"(
update jobs
set window_note = $2
where job_id = $1 and window_note <> $2)";
constexpr char kReadNote[] = "select window_note from jobs where job_id = $1";

}  // namespace

Result<std::vector<WindowCost>> ListWindowCosts(Connection& connection, std::int64_t job_id) {
  const Result<Rows> rows = connection.QueryByKey(kListCosts, {job_id});
  if (!rows) return rows.error();
  std::vector<WindowCost> windows;
  for (std::size_t i = 0; i < rows->size(); ++i) {
    windows.push_back({rows->Int(i, 0), rows->Text(i, 1), rows->Int(i, 2),
                       static_cast<int>(rows->Int(i, 3)), rows->Real(i, 4)});
  }
  return windows;
}

Status NoteWindow(Connection& connection, std::int64_t job_id, const std::string& note) {
  return Done(connection.Query(kNoteWindow, {job_id, note}));
}

Result<std::string> ReadWindowNote(Connection& connection, std::int64_t job_id) {
  const Result<Rows> rows = connection.Query(kReadNote, {job_id});
  if (!rows) return rows.error();
  return rows->empty() ? std::string() : rows->Text(0, 0);
}

}  // namespace stepscope
