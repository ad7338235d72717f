#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <tuple>
#include <vector>

#include "server/store/steps/new_steps.h"
#include "server/store/steps/steps.h"
#include "server/store/ticks/ticks.h"

namespace stepscope {

// Reads for the rules of a job in one turn: most rules have the same watermark, so the same piece
// is read once and shared. `metrics` are all metrics that any of the rules needs.
class JobReads {
 public:
  using Ticks = std::shared_ptr<const TickTable>;
  using Steps = std::shared_ptr<const std::vector<Step>>;

  // `connection` outlives this.
  JobReads(Connection& connection, std::int64_t job_id, std::vector<std::string> metrics)
      : connection_(connection), job_id_(job_id), metrics_(std::move(metrics)) {}

  const std::vector<std::string>& metrics() const { return metrics_; }

  // Ticks of a node in (after_us, until_us], the oldest `most`.
  Result<Ticks> ReadTicks(std::int64_t node_id, std::int64_t after_us, std::int64_t until_us,
                          std::size_t most);
  // Reads the steps of these ranks in one query, for ReadSteps to find. It pays where a job is
  // evaluated often: it skips ranks that were read already, and reads nothing when there are many
  // new steps.
  Status FetchSteps(std::span<const StepPosition> places, std::size_t most);
  // Steps of a rank that began after `after_us`, the oldest `most`.
  Result<Steps> ReadSteps(int rank, std::int64_t after_us, std::size_t most);

 private:
  Connection& connection_;
  std::int64_t job_id_;
  std::vector<std::string> metrics_;
  bool few_ = true;  // few new steps were found so far
  std::map<std::tuple<std::int64_t, std::int64_t, std::int64_t, std::size_t>, Ticks> ticks_;
  std::map<std::tuple<int, std::int64_t, std::size_t>, Steps> steps_;
};

}  // namespace stepscope
