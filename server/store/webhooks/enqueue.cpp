#include "server/store/webhooks/enqueue.h"

#include "core/base/json_members.h"
#include "core/base/text.h"
#include "core/model/status.h"
#include "server/store/postgres/cursor.h"

namespace stepscope {
namespace {

// "rule.cleared:IdleGPU" stands for the event of that rule alone; $2 is "" where the event is no
// rule's. $3 and $4: whether webhooks that do not wait are told, and those that wait.
constexpr char kWanted[] = R"(
select 1
from webhooks
where enabled and ((after_us = 0 and $3) or (after_us > 0 and $4))
    and (cardinality(events) = 0 or $1 = any(events)
        or ($2 <> '' and $1 || ':' || $2 = any(events)))
limit 1)";
// Its lock on the job's row orders the message and the end of the job.
constexpr char kNextSequence[] = R"(
update jobs
set deliveries = deliveries + 1
where job_id = $1
returning deliveries, status)";
// $9 is the rule's configuration; "" where the event is of no finding. A webhook that waits for
// findings to last hears of an end where it heard of the beginning.
constexpr char kEnqueue[] = R"(
insert into deliveries (webhook_id, job_id, event, sequence, body, due_us, created_us, finding_of)
select webhook_id, $1, $2, $3, $4, (extract(epoch from clock_timestamp()) * 1000000)::bigint
        + case when $2 = 'rule.issues_found' then after_us else 0 end,
    $5, case when $2 = 'rule.issues_found' and after_us > 0 then $9 else '' end
from webhooks w
where enabled and ((after_us = 0 and $7) or (after_us > 0 and $8))
    and (cardinality(events) = 0 or $2 = any(events)
        or ($6 <> '' and $2 || ':' || $6 = any(events)))
    and (after_us = 0 or $9 = '' or $2 <> 'rule.cleared' or (
        select state <> 'dead' or jsonb_array_length(attempts) > 0
        from deliveries told
        where told.job_id = $1 and told.finding_of = $9 and told.webhook_id = w.webhook_id
            and told.finding_of <> ''
        order by delivery_id desc
        limit 1))
order by webhook_id)";
// A message whose time has come goes out, even where the outbox has not seen it yet.
constexpr char kWithdraw[] = R"(
update deliveries
set state = 'dead', fence = fence + 1
where job_id = $1 and finding_of <> '' and ($2 = '' or finding_of = $2) and state = 'ready'
    and jsonb_array_length(attempts) = 0
    and due_us > (extract(epoch from clock_timestamp()) * 1000000)::bigint)";

}  // namespace

Status EnqueueDeliveries(Connection& connection, std::int64_t job_id, const std::string& event,
                         const Json& body, std::int64_t now_us) {
  return EnqueueFinding(connection, {job_id, now_us, event, "", body});
}

Status EnqueueFinding(Connection& connection, const FindingMessage& message) {
  const std::string rule = TextOf(message.body.value("data", Json::object()), "rule");
  const Result<Rows> wanted =
      connection.Query(kWanted, {message.event, rule, message.at_once, message.lasting});
  if (!wanted) return wanted.error();
  if (wanted->empty()) return {};
  const Result<Rows> job = connection.Query(kNextSequence, {message.job_id});
  if (!job) return job.error();
  if (job->empty()) return NotFound(Format("job {} not found", message.job_id));
  const auto status = ParseJobStatus(job->Text(0, 1));
  const bool ended = status && HasEnded(*status);
  const bool lasting = message.lasting && !(ended && message.event == "rule.issues_found");
  Json numbered = message.body;
  numbered["sequence"] = job->Int(0, 0);
  return Done(
      connection.Query(kEnqueue, {message.job_id, message.event, job->Int(0, 0), Dump(numbered),
                                  message.now_us, rule, message.at_once, lasting, message.config}));
}

Status WithdrawFindings(Connection& connection, std::int64_t job_id, const std::string& config) {
  return Done(connection.Query(kWithdraw, {job_id, config}));
}

}  // namespace stepscope
