#include "server/store/jobs/stop_requests.h"

#include <algorithm>

#include "core/base/json_members.h"
#include "core/base/text.h"
#include "core/wire/push_answer.h"
#include "server/store/jobs/job_change.h"
#include "server/store/jobs/job_lock.h"
#include "server/store/jobs/silences.h"
#include "server/store/postgres/cursor.h"

namespace stepscope {
namespace {

// The row stays locked until the caller commits: an end that is reported meanwhile waits, and finds
// the job Stopping.
constexpr char kCountStops[] = R"(
update jobs
set stop_requests = stop_requests + 1
where job_id = $1 and status in ('InProgress', 'Stopping')
returning job_id)";
constexpr char kAnsweredStop[] = R"(
update streams
set stop_answered = greatest(stop_answered, $3)
where job_id = $1 and session = $2)";

// Agents that know stops report which commands they allow; an older agent may be asked, too.
bool MayStop(const NodeRow& node) {
  const auto allows = node.facts.find("allows");
  if (allows == node.facts.end() || !allows->is_array()) return true;
  return std::ranges::find(*allows, Json(kStopCommand)) != allows->end();
}

bool HasRefused(const NodeRow& node, std::int64_t number) {
  const auto answer = node.facts.find("last_command");  // the agent's own JSON, of any type
  return answer != node.facts.end() && answer->is_object() &&
         TextOf(*answer, "command") == Format("{}-{}", kStopCommand, number) &&
         TextOf(*answer, "outcome") == "refused";
}

Result<std::vector<NodeRow>> NodesThatRun(Connection& connection, std::int64_t job_id) {
  constexpr std::string_view kFacts[] = {"allows", "last_command"};
  Result<std::vector<NodeRow>> nodes = ListNodes(connection, job_id, kFacts);
  if (nodes) std::erase_if(*nodes, [](const NodeRow& node) { return !RunsCommand(node); });
  return nodes;
}

// An agent that sends nothing any more will not answer either.
std::vector<NodeRow> SendingNodes(std::vector<NodeRow> nodes, std::int64_t now_us) {
  const std::int64_t before_us = now_us - kSilentAfter / 1us;
  std::erase_if(nodes, [=](const NodeRow& node) { return node.last_seen_us < before_us; });
  return nodes;
}

JobChange Stop(const std::vector<NodeRow>& nodes, std::int64_t now_us) {
  JobChange change;
  change.at_us = change.now_us = now_us;
  change.status = nodes.empty() ? JobStatus::kStopped : JobStatus::kStopping;
  change.secondary_status = ToText(change.status);
  change.detail = nodes.empty()       ? std::string("no agent runs its command")
                  : nodes.size() == 1 ? Format("asked of {}", nodes[0].name)
                                      : Format("asked of {} nodes", nodes.size());
  return change;
}

}  // namespace

bool HasAgent(const NodeRow& node) {
  return node.has_agent;
}

bool RunsCommand(const NodeRow& node) {
  return HasAgent(node) && !node.ended_us;
}

Status AskToStop(Connection& connection, std::int64_t job_id, std::int64_t now_us,
                 const std::string& public_url) {
  const Result<Rows> counted = connection.Query(kCountStops, {job_id});
  if (!counted) return counted.error();
  if (counted->empty()) {
    const Result<JobRow> job = LoadJob(connection, job_id);
    if (!job) return job.error();
    const bool over = job->status == JobStatus::kCompleted || job->status == JobStatus::kFailed;
    return over ? Conflict(Format("job {} has ended", job->name)) : Status();
  }
  const auto nodes = NodesThatRun(connection, job_id);
  if (!nodes) return nodes.error();
  const std::vector<NodeRow> sending = SendingNodes(*nodes, now_us);
  if (!sending.empty() && std::ranges::none_of(sending, MayStop)) {
    return Conflict(
        "no agent of this job may end its command: start it with 'stepscope-agent run --allow "
        "interval,stop'; a daemon cannot, since it starts no command");
  }
  return ChangeJob(connection, job_id, Stop(*nodes, now_us), public_url);
}

Status StopAnswered(Connection& connection, std::int64_t job_id, std::string_view session,
                    const StopAnswer& answer, const std::string& public_url) {
  const Status noted = Done(
      connection.QueryByKey(kAnsweredStop, {job_id, Parameter::Bytes(session), answer.number}));
  if (!noted || !answer.refused) return noted;
  // The lock lets the second of two nodes that refuse at once see the first one's answer.
  const Result<std::optional<JobRow>> locked = LockJob(connection, job_id);
  if (!locked) return locked.error();
  if (!*locked) return {};
  const JobRow& job = **locked;
  if (job.status != JobStatus::kStopping || answer.number != job.stop_requests) return {};
  const auto nodes = NodesThatRun(connection, job_id);
  if (!nodes) return nodes.error();
  const auto refused = [&](const NodeRow& node) { return HasRefused(node, answer.number); };
  if (!std::ranges::all_of(SendingNodes(*nodes, answer.at_us), refused)) return {};
  JobChange goes_on;
  goes_on.secondary_status = job.started_us ? "Training" : "Starting";
  goes_on.detail = "not stopped: " + answer.reason;
  goes_on.at_us = goes_on.now_us = answer.at_us;
  goes_on.stop_refused = true;
  return ChangeJob(connection, job_id, goes_on, public_url);
}

}  // namespace stepscope
