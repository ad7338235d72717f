#include "server/store/jobs/windows.h"

#include <algorithm>
#include <optional>

#include "core/base/text.h"
#include "core/wire/push_answer.h"
#include "server/store/jobs/job_lock.h"
#include "server/store/jobs/silences.h"
#include "server/store/jobs/stop_requests.h"
#include "server/store/jobs/window_answers.h"
#include "server/store/postgres/cursor.h"

namespace stepscope {
namespace {

// An agent gets the time to wait with the request, which is a push later.
constexpr std::int64_t kLateUs = 120'000'000;

constexpr char kNote[] = R"(
update jobs
set window_requests = $2, window_start_step = $3, window_num_steps = $4, window_until_us = $5,
    window_operators = $6, window_shapes = $7
where job_id = $1)";
constexpr char kInsertWindow[] = R"(
insert into windows (job_id, window_id, start_step, num_steps, asked_us, until_us, source, asked_by,
    shapes)
values ($1, $2, $3, $4, $5, $6, $7, $8, $9))";
constexpr char kFind[] = R"(
select window_id, start_step, num_steps, asked_us, until_us, spans, source, asked_by, shapes
from windows
where job_id = $1 and window_id = $2)";
constexpr char kLastWindow[] = R"(
select coalesce(max(window_id), 0)
from windows
where job_id = $1)";
constexpr char kCountWindows[] = "select count(*) from windows where job_id = $1";
constexpr char kListWindows[] = R"(
select window_id, start_step, num_steps, asked_us, until_us, spans, source, asked_by, shapes
from windows
where job_id = $1 and window_id < $2
order by window_id desc
limit $3)";
bool Allows(const NodeRow& node, std::string_view kind) {
  const auto allows = node.facts.find("allows");
  return allows != node.facts.end() && allows->is_array() &&
         std::ranges::find(*allows, Json(kind)) != allows->end();
}

// An agent that sends nothing any more will not answer either.
bool MayAnswer(const NodeRow& node, std::int64_t now_us) {
  return RunsCommand(node) && Allows(node, kSpansCommand) &&
         node.last_seen_us >= now_us - kSilentAfter / 1us;
}

bool HasAnswered(const WindowRow& window, const NodeRow& node) {
  return std::ranges::binary_search(window.answered_nodes, node.node_id);
}

// Agents are told of the newest window alone.
bool IsOpen(const WindowRow& window, const JobRow& job, const std::vector<NodeRow>& nodes,
            std::int64_t now_us) {
  if (window.of_traces || HasEnded(job.status)) return false;
  if (window.window_id < job.window.window_id) return false;
  if (now_us > window.until_us + kLateUs) return false;
  return std::ranges::any_of(nodes, [&](const NodeRow& node) {
    return MayAnswer(node, now_us) && !HasAnswered(window, node);
  });
}

// The reasons that agents gave, each once.
std::string Reasons(const WindowRow& window) {
  std::string text;
  for (const WindowAnswer& answer : window.answers) {
    if (answer.reason.empty()) continue;
    const std::string one = Format("{}: {}", answer.node, answer.reason);
    if (text.find(one) == std::string::npos) text += (text.empty() ? "" : "; ") + one;
    if (text.size() > 1'000) return text + "; ...";
  }
  return text;
}

std::string WhyNobodyAnswered(const WindowRow& window, const JobRow& job, std::int64_t now_us) {
  if (HasEnded(job.status)) return "the job ended before these steps";
  if (now_us > window.until_us) {
    return Format("the steps did not come within {} minutes", kWindowWait / 1min);
  }
  return "no agent that was asked is heard any more";
}

WindowRow ReadWindow(const Rows& rows, std::size_t row) {
  WindowRow window{rows.Int(row, 0), rows.Int(row, 1), rows.Int(row, 2),
                   rows.Int(row, 3), rows.Int(row, 4), rows.Int(row, 5)};
  const std::string source = rows.Text(row, 6);
  window.of_traces = source == "trace";
  window.operators = source == "operators";
  window.asked_by = rows.Text(row, 7);
  window.shapes = rows.Bool(row, 8);
  return window;
}

// The error when no window can be requested now; `open` is the newest window if it is open.
Status MayAsk(const JobRow& job, const std::vector<NodeRow>& nodes, bool operators,
              const std::optional<WindowRow>& open, std::int64_t now_us) {
  if (HasEnded(job.status)) return Conflict(Format("job {} has ended", job.name));
  if (open) {
    return Conflict(Format("window {} is open: steps {} to {}; ask again when it is over",
                           open->window_id, open->start_step,
                           open->start_step + open->num_steps - 1));
  }
  const bool any = std::ranges::any_of(nodes, [=](const NodeRow& node) {
    return MayAnswer(node, now_us) && (!operators || Allows(node, kWindowCommand));
  });
  if (any) return {};
  if (operators) {
    return Conflict(
        "no agent of this job is heard that records operators: it was started with --windows off, "
        "or with an --allow without spans and window, or is of an older version");
  }
  return Conflict(
      "no agent of this job is heard that records spans: it is of an older version, or was started "
      "with an --allow without spans");
}

// The newest window if it is open.
Result<std::optional<WindowRow>> FindOpen(Connection& connection, const JobRow& job,
                                          const std::vector<NodeRow>& nodes, std::int64_t now_us) {
  if (job.window.window_id == 0) return std::optional<WindowRow>();
  Result<WindowRow> newest = FindWindow(connection, job.job_id, job.window.window_id);
  const bool deleted = !newest && newest.error().code == Code::kNotFound;
  if (deleted) return std::optional<WindowRow>();
  if (!newest) return newest.error();
  if (!IsOpen(*newest, job, nodes, now_us)) return std::optional<WindowRow>();
  return std::optional<WindowRow>(std::move(*newest));
}

}  // namespace

bool AllowsAutomatic(const std::vector<NodeRow>& nodes) {
  return std::ranges::any_of(
      nodes, [](const NodeRow& node) { return RunsCommand(node) && Allows(node, "automatic"); });
}

std::string_view ToText(WindowStatus status) {
  switch (status) {
    case WindowStatus::kOpen:
      return "Open";
    case WindowStatus::kRecorded:
      return "Recorded";
    case WindowStatus::kNotRecorded:
      break;
  }
  return "NotRecorded";
}

WindowState WindowStateOf(const WindowRow& window, const JobRow& job,
                          const std::vector<NodeRow>& nodes, std::int64_t now_us) {
  if (window.of_traces) return {WindowStatus::kRecorded, ""};
  if (IsOpen(window, job, nodes, now_us)) return {};
  std::string reasons = Reasons(window);
  if (window.recorded_count > 0) {
    return {WindowStatus::kRecorded, std::move(reasons)};
  }
  if (reasons.empty()) reasons = WhyNobodyAnswered(window, job, now_us);
  return {WindowStatus::kNotRecorded, std::move(reasons)};
}

// A window that was deleted gives its number to nobody while agents may be told of it.
Result<std::int64_t> NextWindow(Connection& connection, const JobRow& job) {
  const Result<Rows> last = connection.Query(kLastWindow, {job.job_id});
  if (!last) return last.error();
  const std::int64_t next = std::max(last->Int(0, 0), job.window.window_id) + 1;
  if (next <= kMostWindows) return next;
  return Conflict(Format("job {} had {} windows, and no job has more", job.name, kMostWindows));
}

Result<AskedWindow> AskForWindow(Connection& connection, std::int64_t job_id,
                                 const WindowRequest& wanted, std::int64_t now_us) {
  // The lock lets the second of two requests at once see the window of the first.
  const Result<std::optional<JobRow>> locked = LockJob(connection, job_id);
  if (!locked) return locked.error();
  if (!*locked) return NotFound("the job is gone");
  const JobRow& job = **locked;
  const auto nodes = ListNodes(connection, job_id, kWindowFacts);
  if (!nodes) return nodes.error();
  const auto open = FindOpen(connection, job, *nodes, now_us);
  if (!open) return open.error();
  const auto same = [&](const WindowRow& window) {
    return window.start_step == wanted.start_step && window.num_steps == wanted.num_steps &&
           window.operators == wanted.operators && window.shapes == wanted.shapes;
  };
  if (*open && same(**open)) return AskedWindow{**open, false};
  Status may = MayAsk(job, *nodes, wanted.operators, *open, now_us);
  if (!may) return may.error();

  const Result<std::int64_t> next = NextWindow(connection, job);
  if (!next) return next.error();
  WindowRow window{.window_id = *next,
                   .start_step = wanted.start_step,
                   .num_steps = wanted.num_steps,
                   .asked_us = now_us,
                   .until_us = now_us + kWindowWait / 1us,
                   .operators = wanted.operators,
                   .shapes = wanted.shapes,
                   .asked_by = wanted.asked_by};
  Status done = Done(connection.Query(
      kInsertWindow,
      {job_id, window.window_id, window.start_step, window.num_steps, now_us, window.until_us,
       wanted.operators ? "operators" : "asked", wanted.asked_by, wanted.shapes}));
  if (done) {
    done =
        Done(connection.Query(kNote, {job_id, window.window_id, window.start_step, window.num_steps,
                                      window.until_us, wanted.operators, wanted.shapes}));
  }
  if (!done) return done.error();
  return AskedWindow{std::move(window), true};
}

Result<WindowRow> FindWindow(Connection& connection, std::int64_t job_id, std::int64_t window_id) {
  const Result<Rows> rows = connection.QueryByKey(kFind, {job_id, window_id});
  if (!rows) return rows.error();
  if (rows->empty()) return NotFound(Format("there is no window {}", window_id));
  std::vector<WindowRow> windows{ReadWindow(*rows, 0)};
  if (Status added = AddAnswers(connection, job_id, windows, kMostAnswers); !added) {
    return added.error();
  }
  return std::move(windows.front());
}

Result<WindowPage> ListWindows(Connection& connection, std::int64_t job_id,
                               const std::string& after, int limit) {
  Json position = Json::array({INT64_MAX});
  if (!after.empty()) {
    const Result<Json> given = DecodeCursor(after, position);
    if (!given) return given.error();
    position = *given;
  }
  const Result<Rows> total = connection.Query(kCountWindows, {job_id});
  if (!total) return total.error();
  const Result<Rows> rows =
      connection.Query(kListWindows, {job_id, position[0].get<std::int64_t>(), limit + 1});
  if (!rows) return rows.error();
  WindowPage page;
  page.total = total->Int(0, 0);
  const auto most = static_cast<std::size_t>(limit);
  for (std::size_t i = 0; i < std::min(rows->size(), most); ++i) {
    page.items.push_back(ReadWindow(*rows, i));
  }
  if (rows->size() > most) page.next = EncodeCursor(Json::array({page.items.back().window_id}));
  if (Status added = AddAnswers(connection, job_id, page.items, kMostListedAnswers); !added) {
    return added.error();
  }
  return page;
}

}  // namespace stepscope
