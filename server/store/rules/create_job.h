#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "core/base/json.h"
#include "server/store/jobs/jobs.h"
#include "server/store/postgres/database.h"

namespace stepscope {

struct NewJob {
  std::string name, group;
  Json configuration;  // {"interval_ms", "tags", "rules": [{"name", "rule", "parameters"}]},
                       // checked by the caller
  struct Rule {
    std::string name, rule;
    Json parameters;  // complete, defaults filled in
  };
  std::vector<Rule> rules;
  std::string created_by = {};  // name of the creator's token; "" where tokens are not demanded
};

// Creates the job with its rule configurations, states, tasks and first transition, in the caller's
// transaction. When the name is taken: the existing job, `created` false, nothing changed.
struct CreatedJob {
  JobRow job;
  bool created = false;
};
Result<CreatedJob> CreateJob(Connection&, const NewJob&, std::int64_t now_us);

}  // namespace stepscope
