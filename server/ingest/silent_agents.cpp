#include "server/ingest/silent_agents.h"

#include "core/base/log.h"
#include "core/base/text.h"
#include "server/store/jobs/job_events.h"
#include "server/store/jobs/job_rows.h"
#include "server/store/jobs/silences.h"
#include "server/store/webhooks/enqueue.h"

namespace stepscope {
namespace {

constexpr char kReadsOnly[] = "select current_setting('transaction_read_only')";
// Turns come every 30 s, later when the database is slow.
constexpr Duration kBreak = 60s;

std::string TimeText(std::int64_t at_us) {
  return ToRfc3339(FromMicros(at_us));
}

// Tells of one job, in the caller's transaction.
struct Teller {
  Connection& connection;
  const std::int64_t job_id, now_us;
  const std::string& public_url;
  const UntoldSilence& untold;

  Status Tell(const std::string& event, const std::string& detail, std::int64_t last_seen_us,
              const std::string& node) const {
    Json data = {{"job", untold.job},
                 {"group", untold.group},
                 {"status", ToText(untold.status)},
                 {"detail", detail},
                 {"last_seen", TimeText(last_seen_us)},
                 {"url", JobUrl(public_url, untold.job)}};
    if (!node.empty()) data["node"] = node;
    const Json body = {{"type", event}, {"timestamp", TimeText(now_us)}, {"data", std::move(data)}};
    return EnqueueDeliveries(connection, job_id, event, body, now_us);
  }

  Status Note(const std::string& kind, std::int64_t last_seen_us, const std::string& node) const {
    return AddEvent(connection, job_id,
                    {now_us, kind, node, 1, {{"last_seen", TimeText(last_seen_us)}}});
  }

  Status TellNode(const SilentNode& node) const {
    const std::string detail = Format("nothing was heard of the agent on node {} since {}",
                                      node.name, TimeText(node.last_seen_us));
    const Status told = Tell("agent.silent", detail, node.last_seen_us, node.name);
    return told ? Note("agent_silent", node.last_seen_us, node.name) : told;
  }

  Status TellStall() const {
    const std::string detail = Format("nothing was heard of any agent of this job since {}",
                                      TimeText(untold.last_seen_us));
    const Status told = Tell("job.stalled", detail, untold.last_seen_us, "");
    return told ? Note("job_stalled", untold.last_seen_us, "") : told;
  }
};

Result<int> TellOf(Connection& connection, std::int64_t job_id, std::int64_t before_us,
                   std::int64_t now_us, const std::string& public_url) {
  Result<Transaction> transaction = Transaction::Begin(connection);
  if (!transaction) return transaction.error();
  const auto untold = TakeUntoldSilence(connection, job_id, before_us);
  if (!untold) return untold.error();
  const Teller teller{connection, job_id, now_us, public_url, *untold};
  for (const SilentNode& node : untold->nodes) {
    if (const Status told = teller.TellNode(node); !told) return told.error();
  }
  if (untold->stalled) {
    if (const Status told = teller.TellStall(); !told) return told.error();
  }
  const Status done = transaction->Commit();
  return done ? Result<int>(static_cast<int>(untold->nodes.size())) : done.error();
}

}  // namespace

Result<int> TellSilentAgents(Connection& connection, Duration silent_after, std::int64_t now_us,
                             const std::string& public_url) {
  const auto after_us = std::chrono::duration_cast<std::chrono::microseconds>(silent_after).count();
  const auto jobs = ListUntoldSilences(connection, now_us - after_us);
  if (!jobs) return jobs.error();
  int nodes = 0;
  for (const std::int64_t job_id : *jobs) {
    const Result<int> told = TellOf(connection, job_id, now_us - after_us, now_us, public_url);
    if (!told && connection.broken()) return told.error();
    if (!told) LogWarning("silent agents of job {}: {}", job_id, told.error().message);
    if (told) nodes += *told;
  }
  return nodes;
}

Status TakesFrames(Connection& connection) {
  const Result<Rows> reads_only = connection.Query(kReadsOnly);
  if (!reads_only) return reads_only.error();
  return reads_only->Text(0, 0) == "on" ? Status(Unavailable("the database is read-only"))
                                        : Status();
}

Duration Listening::For(Time now) {
  if (!last_ || now < *last_ || now - *last_ > kBreak) since_ = now;
  last_ = now;
  return now - since_;
}

}  // namespace stepscope
