#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/json.h"
#include "core/model/status.h"
#include "server/store/jobs/clock_suspects.h"
#include "server/store/postgres/database.h"

namespace stepscope {

// The newest window of a job (server/store/jobs/windows.h).
struct NewestWindow {
  std::int64_t window_id = 0;  // 0: there was none
  std::int64_t start_step = 0, num_steps = 0;
  std::int64_t until_us = 0;  // agents are told of it until then
  bool operators = false;     // operators and kernels are wanted, too
  bool shapes = false;        // and the shapes of their inputs
};

struct JobRow {
  std::int64_t job_id = 0;
  std::string name, group;
  JobStatus status = JobStatus::kInProgress;
  std::string secondary_status;
  Json configuration;
  std::int64_t created_us = 0;
  std::optional<std::int64_t> started_us, ended_us;
  Json failure;                                 // null when there is none
  std::string created_by;                       // the maker; "" where tokens are not demanded
  std::optional<std::int64_t> samples_from_us;  // earlier ones were removed; rollups stay
  std::int64_t stop_requests = 0;               // see server/store/jobs/stop_requests.h
  NewestWindow window;
};

struct NodeRow {
  std::int64_t node_id = 0;
  std::string name;
  Json facts;              // an object of those that were asked for; null where they were left out
  bool has_agent = false;  // its agent has told of it
  std::int64_t first_seen_us = 0, last_seen_us = 0, clock_offset_us = 0, round_trip_us = 0;
  std::optional<std::int64_t> ended_us, exit_code, exit_signal;
  std::optional<ClockSuspect> clock_suspect;  // where its clock was ever seen to be off
};

struct RankRow {
  int rank = 0;
  std::int64_t node_id = 0;
  Json facts;  // as those of a node
  std::int64_t first_seen_us = 0;
  std::optional<std::int64_t> ended_us;
};

struct TransitionRow {
  std::int64_t rule_config_id = 0, version = 0;
  std::string status, secondary_status, detail;
  std::int64_t at_us = 0;
};

// The number of jobs that this caller created since then.
Result<std::int64_t> CountNewJobs(Connection&, const std::string& created_by,
                                  std::int64_t since_us);

// NotFound names the job.
Result<JobRow> FindJob(Connection&, const std::string& name);
Result<JobRow> LoadJob(Connection&, std::int64_t job_id);
// Finds the jobs that exist, by name; ReadJobs reads the rows.
Statement FindJobs(const std::vector<std::string>& names);
std::vector<JobRow> ReadJobs(const Rows& rows);

// Facts are what agents said, so lists read none that they do not name. One that is larger than
// kLongestFact is null; a list of that size is an object of its `count` and its `first` element.
inline constexpr std::int64_t kMostJobNodes = 10'000, kMostJobRanks = 100'000;
inline constexpr std::size_t kLongestFact = 1024;  // bytes of JSON
using FactNames = std::span<const std::string_view>;
// A fact that is a list, whichever way it was read; of another type, or none: empty.
struct ListFact {
  std::size_t count = 0;
  Json first;
};
ListFact ListIn(const Json& facts, const char* name);
Result<std::vector<NodeRow>> ListNodes(Connection&, std::int64_t job_id, FactNames names = {});
Result<std::vector<RankRow>> ListRanks(Connection&, std::int64_t job_id, FactNames names = {});
// Reads the ranks with these facts in pieces, so that the facts of all of them, some 400 MB where a
// job does its worst, never stand in memory together. `take` keeps what it needs of a piece.
using TakeRanks = std::function<void(std::vector<RankRow> some)>;
Status ReadRanksInPieces(Connection&, std::int64_t job_id, FactNames names, const TakeRanks& take);
// With all facts, as far as they are no more than an answer may hold; those of later rows are null.
// LoadJobDetails (server/store/rules/job_details.h) asks for them.
Statement NodesWithFacts(std::int64_t job_id);
Statement RanksWithFacts(std::int64_t job_id);
std::vector<NodeRow> ReadNodeRows(const Rows&);
std::vector<RankRow> ReadRankRows(const Rows&);
// The rank with the smallest number; none where no rank was seen.
Result<std::optional<int>> FirstRank(Connection&, std::int64_t job_id);
// The job's and its rules', by time.
Result<std::vector<TransitionRow>> ListTransitions(Connection&, std::int64_t job_id);
Statement TransitionsOf(std::int64_t job_id);
std::vector<TransitionRow> ReadTransitionRows(const Rows&);

}  // namespace stepscope
