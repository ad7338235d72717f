#include "server/ingest/apply_lifecycle.h"

#include <algorithm>

#include "core/base/text.h"
#include "server/store/job_facts.h"

namespace stepscope {
namespace {

Status ApplyStarted(Connection& connection, const ReportedBy& by, const Lifecycle& started) {
  if (Status done = NodeStarted(connection, by.job_id, by.node_id, started.facts); !done) {
    return done;
  }
  return AddEvent(connection, by.job_id, started.at_us, "agent_started", by.node, Json::object());
}

Status ApplyRank(Connection& connection, const ReportedBy& by, const Lifecycle& rank) {
  const bool ended = rank.event == LifecycleEvent::kRankEnded;
  const Status done =
      ended ? RankEnded(connection, by.job_id, rank.rank, rank.at_us)
            : RankStarted(connection, by.job_id, rank.rank, by.node_id, rank.facts, rank.at_us);
  if (!done) return done;
  return AddEvent(connection, by.job_id, rank.at_us, ended ? "rank_ended" : "rank_connected",
                  by.node, {{"rank", rank.rank}});
}

// Samples may name a node on which no agent runs a command.
bool HasAgent(const NodeRow& node) {
  return !node.facts.empty();
}

// The node that failed first, or null.
const NodeRow* FirstFailed(const std::vector<NodeRow>& nodes) {
  const NodeRow* first = nullptr;
  for (const NodeRow& node : nodes) {
    if (!HasAgent(node) || node.exit_code == 0) continue;
    if (!first || node.ended_us < first->ended_us) first = &node;
  }
  return first;
}

JobChange ChangeOf(const NodeRow* failed, std::int64_t ended_us) {
  JobChange change;
  change.at_us = ended_us;
  if (!failed) {
    change.status = JobStatus::kCompleted;
    change.secondary_status = "Completed";
    return change;
  }
  change.status = JobStatus::kFailed;
  change.secondary_status = "Failed";
  change.detail = failed->exit_signal
                      ? Format("{}: ended by signal {}", failed->name, *failed->exit_signal)
                      : Format("{}: exit code {}", failed->name, failed->exit_code.value_or(-1));
  const auto number = [](const std::optional<std::int64_t>& value) {
    return value ? Json(*value) : Json(nullptr);
  };
  change.failure = {{"node", failed->name},
                    {"exit_code", number(failed->exit_code)},
                    {"signal", number(failed->exit_signal)},
                    {"output", failed->output.is_null() ? Json::array() : failed->output}};
  return change;
}

// The job ends with the last of the nodes that run its command.
Status ApplyEnded(Connection& connection, const ReportedBy& by, const Lifecycle& ended) {
  const NodeEnd end{ended.at_us, ended.exit_code, ended.exit_signal, ended.output};
  if (Status done = NodeEnded(connection, by.job_id, by.node_id, end); !done) return done;
  const Json detail = ended.exit_signal ? Json{{"signal", *ended.exit_signal}}
                                        : Json{{"exit_code", ended.exit_code.value_or(-1)}};
  if (Status done = AddEvent(connection, by.job_id, ended.at_us, "command_ended", by.node, detail);
      !done) {
    return done;
  }
  const Result<std::vector<NodeRow>> nodes = ListNodes(connection, by.job_id);
  if (!nodes) return nodes.error();
  const auto running = [](const NodeRow& node) { return HasAgent(node) && !node.ended_us; };
  if (std::ranges::any_of(*nodes, running)) return {};
  const auto last = std::ranges::max_element(*nodes, {}, &NodeRow::ended_us);
  return ChangeJob(connection, by.job_id, ChangeOf(FirstFailed(*nodes), *last->ended_us),
                   by.public_url);
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
