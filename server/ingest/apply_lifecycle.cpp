#include "server/ingest/apply_lifecycle.h"

#include <algorithm>

#include "core/base/text.h"
#include "server/store/jobs/interval_requests.h"
#include "server/store/jobs/job_change.h"
#include "server/store/jobs/job_facts.h"
#include "server/store/jobs/stop_requests.h"
#include "server/store/jobs/windows.h"

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
  const Status done =
      ended ? RankEnded(connection, by.job_id, rank.rank, rank.at_us)
            : RankStarted(connection, by.job_id, rank.rank, by.node_id, rank.facts, rank.at_us);
  if (!done) return done;
  Note(by.events,
       {rank.at_us, ended ? "rank_ended" : "rank_connected", by.node, 1, {{"rank", rank.rank}}});
  return {};
}

Json NumberOrNull(const std::optional<std::int64_t>& value) {
  return value ? Json(*value) : Json(nullptr);
}

// An agent that did not start the processes sees them go, and no more.
bool EndIsUnknown(const NodeRow& node) {
  return HasAgent(node) && !node.exit_code && !node.exit_signal;
}

// The node that failed first, or null.
const NodeRow* FirstFailed(const std::vector<NodeRow>& nodes) {
  const NodeRow* first = nullptr;
  for (const NodeRow& node : nodes) {
    if (!HasAgent(node) || node.exit_code == 0 || EndIsUnknown(node)) continue;
    if (!first || node.ended_us < first->ended_us) first = &node;
  }
  return first;
}

JobChange Completed(const std::vector<NodeRow>& nodes) {
  JobChange change;
  change.status = JobStatus::kCompleted;
  change.secondary_status = "Completed";
  const auto unknown = std::ranges::find_if(nodes, EndIsUnknown);
  if (unknown != nodes.end())
    change.detail =
        Format("{}: the processes are gone; how they ended is not known", unknown->name);
  return change;
}

JobChange Failed(const NodeRow& failed) {
  JobChange change;
  change.status = JobStatus::kFailed;
  change.secondary_status = "Failed";
  change.detail = failed.exit_signal
                      ? Format("{}: ended by signal {}", failed.name, *failed.exit_signal)
                      : Format("{}: exit code {}", failed.name, failed.exit_code.value_or(-1));
  change.failure = {{"node", failed.name},
                    {"exit_code", NumberOrNull(failed.exit_code)},
                    {"signal", NumberOrNull(failed.exit_signal)},
                    {"output", failed.output.is_null() ? Json::array() : failed.output}};
  return change;
}

// The job ends with the last of the nodes that run its command.
Status ApplyEnded(Connection& connection, const ReportedBy& by, const Lifecycle& ended) {
  const NodeEnd end{ended.at_us, ended.exit_code, ended.exit_signal, ended.output};
  if (Status done = NodeEnded(connection, by.job_id, by.node_id, end); !done) return done;
  const Json detail = ended.exit_signal ? Json{{"signal", *ended.exit_signal}}
                                        : Json{{"exit_code", NumberOrNull(ended.exit_code)}};
  Note(by.events, {ended.at_us, "command_ended", by.node, 1, detail});
  const Result<std::vector<NodeRow>> nodes = ListNodes(connection, by.job_id);
  if (!nodes) return nodes.error();
  if (std::ranges::any_of(*nodes, RunsCommand)) return {};
  const NodeRow* failed = FirstFailed(*nodes);
  JobChange change = failed ? Failed(*failed) : Completed(*nodes);
  change.at_us = *std::ranges::max_element(*nodes, {}, &NodeRow::ended_us)->ended_us;
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
  return ChangeJob(connection, by.job_id, change, by.public_url);
}

}  // namespace stepscope
