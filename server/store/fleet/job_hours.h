#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "core/base/json.h"
#include "server/store/postgres/database.h"

namespace stepscope {

// The hours for which a job held its GPUs, and what they went to. The fleet is added up from these
// rows alone.
struct JobHours {
  std::int64_t job_id = 0;
  std::string name, group;
  std::string user, account;  // "" where no agent knows it
  std::string gpu;            // model of the first GPU; "" without GPUs
  std::int64_t nodes = 0, gpus = 0;
  // Each node with its GPUs, by name; kept with the nodes, so SaveJobHours leaves them alone.
  std::vector<std::pair<std::string, std::int64_t>> node_gpus;
  // From the first sample to the end, or to the newest frame of a job that runs.
  std::optional<std::int64_t> from_us, to_us;
  bool ended = false;
  std::optional<double> judged_seconds;  // of GPUs, divided by cause; none: nothing was judged
  double busy_seconds = 0;
  std::vector<std::pair<std::string, double>> lost_seconds;  // by the name of the cause
  std::string verdict = "unknown";                           // issues, none, unknown
  std::int64_t issues = 0;                                   // rules that found something
  double price = 0;  // money for an hour of a GPU; 0: not set
  std::string sentence;
  bool settled = false;  // nothing is expected to change it
  std::int64_t written_us = 0;
};

// A job whose row is missing, or may have changed since `before_us`; lowest numbers first.
struct UnsummedJob {
  std::int64_t job_id = 0;
  bool judged = false;  // all of its rules had their last turn
  std::optional<std::int64_t> closed_us;
};
Result<std::vector<UnsummedJob>> ListUnsummedJobs(Connection&, std::int64_t before_us, int most);

// The rules of a job, as far as the fleet counts them.
struct JudgedRule {
  std::string rule, status, kind;  // kind of its verdict: clear, finding, unknown
  Json verdict;                    // only where the rule divides up the time; else null
  double price = 0;
};
Result<std::vector<JudgedRule>> ListJudgedRules(Connection&, std::int64_t job_id);

// Writes the row, unless the job was deleted meanwhile.
Status SaveJobHours(Connection&, const JobHours&);

// The job's row is expected to change, and is written anew.
Status UnsettleJobHours(Connection&, std::int64_t job_id);

// Rows written at `since_us` or later, of jobs below `below_job_id`, without their sentences;
// highest numbers first.
Result<std::vector<JobHours>> ReadJobHours(Connection&, std::int64_t since_us,
                                           std::int64_t below_job_id, int most);
Result<std::int64_t> CountJobHours(Connection&);

// The sentences of these jobs, by number; a job without a row has none.
Result<std::vector<std::pair<std::int64_t, std::string>>> ReadJobSentences(
    Connection&, std::span<const std::int64_t> job_ids);

}  // namespace stepscope
