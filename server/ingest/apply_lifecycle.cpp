#include "server/ingest/apply_lifecycle.h"

#include <algorithm>

#include "core/base/text.h"
#include "server/store/jobs/interval_requests.h"
#include "server/store/jobs/job_change.h"
#include "server/store/jobs/job_facts.h"
#include "server/store/jobs/node_ends.h"
#include "server/store/jobs/stop_requests.h"
#include "server/store/jobs/window_answers.h"

namespace stepscope {
namespace {

Status ApplyStarted(Connection& connection, const ReportedBy& by, const Lifecycle& started) {
  if (Status done = NodeStarted(connection, by.job_id, by.node_id, started.facts); !done) {
    return done;
  }
  Note(by.events, {started.at_us, "agent_started", by.node});
  return {};
}

Status ApplyRank(Connection& connection, const ReportedBy& by, const Lifecycle& rank) {
  const bool ended = rank.event == LifecycleEvent::kRankEnded;
  const Result<bool> taken =
      ended ? RankEnded(connection, by.job_id, rank.rank, by.node_id, rank.at_us)
            : RankStarted(connection, by.job_id, {rank.rank, by.node_id, rank.at_us}, rank.facts,
                          by.now_us);
  if (!taken) return taken.error();
  const char* event = !*taken ? "rank_elsewhere" : ended ? "rank_ended" : "rank_connected";
  Note(by.events, {rank.at_us, event, by.node, 1, {{"rank", rank.rank}}});
  return {};
}

Json NumberOrNull(const std::optional<std::int64_t>& value) {
  return value ? Json(*value) : Json(nullptr);
}

JobChange Completed(const NodeEnds& ends) {
  JobChange change;
  change.status = JobStatus::kCompleted;
  change.secondary_status = "Completed";
  if (!ends.unknown.empty())
    change.detail = Format("{}: the processes are gone; how they ended is not known", ends.unknown);
  return change;
}

JobChange Failed(const FailedNode& failed) {
  JobChange change;
  change.status = JobStatus::kFailed;
  change.secondary_status = "Failed";
  change.detail = failed.exit_signal
                      ? Format("{}: ended by signal {}", failed.name, *failed.exit_signal)
                      : Format("{}: exit code {}", failed.name, failed.exit_code.value_or(-1));
  if (!failed.reason.empty()) change.detail += "; " + failed.reason;
  change.failure = {{"node", failed.name},
                    {"exit_code", NumberOrNull(failed.exit_code)},
                    {"signal", NumberOrNull(failed.exit_signal)},
                    {"reason", failed.reason.empty() ? Json(nullptr) : Json(failed.reason)},
                    {"output", failed.output}};
  return change;
}

// The job ends with the last of the nodes that run its command.
Status ApplyEnded(Connection& connection, const ReportedBy& by, const Lifecycle& ended) {
  const NodeEnd end{ended.at_us, ended.exit_code, ended.exit_signal, ended.output};
  if (Status done = NodeEnded(connection, by.job_id, by.node_id, end); !done) return done;
  if (!ended.reason.empty()) {
    const Json why = {{kEndReason, ended.reason}};
    if (Status done = AddNodeFacts(connection, by.job_id, by.node_id, why); !done) return done;
  }
  const Json detail = ended.exit_signal ? Json{{"signal", *ended.exit_signal}}
                                        : Json{{"exit_code", NumberOrNull(ended.exit_code)}};
  Note(by.events, {ended.at_us, "command_ended", by.node, 1, detail});
  const Result<bool> goes_on = SomeNodeRuns(connection, by.job_id);
  if (!goes_on) return goes_on.error();
  if (*goes_on) return {};
  const Result<NodeEnds> ends = HowNodesEnded(connection, by.job_id);
  if (!ends) return ends.error();
  JobChange change = ends->failed ? Failed(*ends->failed) : Completed(*ends);
  change.at_us = std::min(ends->last_us, by.now_us);  // a clock that is ahead ends nothing later
  change.now_us = by.now_us;
  return ChangeJob(connection, by.job_id, change, by.public_url);
}

// The outcome of a command is kept with the node's facts, where people look.
Status ApplyAnswered(Connection& connection, const ReportedBy& by, const Lifecycle& answered) {
  Note(by.events, {answered.at_us, "command_answered", by.node, 1, answered.answer});
  Status done =
      AddNodeFacts(connection, by.job_id, by.node_id, {{"last_command", answered.answer}});
  if (done && answered.interval_change != 0) {
    done = IntervalAnswered(connection, by.job_id, by.session, answered.interval_change);
  }
  const bool refused = answered.answer["outcome"] == "refused";
  const std::string reason = answered.answer["reason"].get<std::string>();
  if (done && answered.window_id != 0) {
    done = WindowAnswered(connection, by.job_id, by.node_id, by.session,
                          {.window_id = answered.window_id,
                           .at_us = by.now_us,
                           .recorded = !refused,
                           .reason = reason,
                           .spans = answered.spans,
                           .dropped = answered.dropped});
  }
  if (!done || answered.stop_request == 0) return done;
  const StopAnswer answer{answered.stop_request, by.now_us, refused, reason};
  return StopAnswered(connection, by.job_id, by.session, answer, by.public_url);
}

}  // namespace

Status ApplyLifecycle(Connection& connection, const ReportedBy& by, const Lifecycle& lifecycle) {
  switch (lifecycle.event) {
    case LifecycleEvent::kStarted:
      return ApplyStarted(connection, by, lifecycle);
    case LifecycleEvent::kRank:
    case LifecycleEvent::kRankEnded:
      return ApplyRank(connection, by, lifecycle);
    case LifecycleEvent::kEnded:
      return ApplyEnded(connection, by, lifecycle);
    case LifecycleEvent::kAnswered:
      return ApplyAnswered(connection, by, lifecycle);
  }
  return {};
}

Status ApplyTable(Connection& connection, const ReportedBy& by, const TableFrame& table,
                  JobRow& job) {
  if (job.started_us || table.kind != FrameKind::kTicks) return {};
  const Result<bool> first = JobStarted(connection, by.job_id, table.from_us);
  if (!first) return first.error();
  job.started_us = table.from_us;
  if (!*first || job.status != JobStatus::kInProgress) return {};
  JobChange change;
  change.secondary_status = "Training";
  change.at_us = table.from_us;
  change.now_us = by.now_us;
  return ChangeJob(connection, by.job_id, change, by.public_url);
}

}  // namespace stepscope
