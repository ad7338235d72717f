#pragma once

#include <cstdint>
#include <string>

#include "core/base/json.h"
#include "server/store/postgres/database.h"

namespace stepscope {

// Adds a row for each enabled webhook that wants the event, in the caller's transaction. `body`
// gets "sequence" and is sent as it is here.
Status EnqueueDeliveries(Connection&, std::int64_t job_id, const std::string& event,
                         const Json& body, std::int64_t now_us);

// A rule.issues_found or rule.cleared about one rule of a job.
struct FindingMessage {
  std::int64_t job_id = 0, now_us = 0;
  std::string event, config;  // `config` is the name of the rule's configuration
  Json body;
  bool at_once = true;  // whether webhooks are told that wait for nothing
  bool lasting = true;  // whether webhooks are that wait until a finding has lasted
};

// Adds the message for each enabled webhook that wants it, in the caller's transaction. A webhook
// that waits until a finding has lasted gets rule.issues_found that long after now by the
// database's clock, unless WithdrawFindings comes first or the job has ended; it gets rule.cleared
// only where the last rule.issues_found of this rule was not withdrawn.
Status EnqueueFinding(Connection&, const FindingMessage&);

// Withdraws the messages about findings of a rule of the job that have not lasted long enough yet;
// with an empty `config` those of all its rules. In the caller's transaction.
Status WithdrawFindings(Connection&, std::int64_t job_id, const std::string& config);

}  // namespace stepscope
