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

// What the rules of a job read in one turn: most of them stand at the same place, so the same piece
// is read once and shared. `metrics` are those that any of them needs.
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
  // Steps of these ranks at once, for ReadSteps to find: of a job that is looked at often. Reads
  // nothing that is there already, nor where there is much.
  Status FetchSteps(std::span<const StepPosition> places, std::size_t most);
  // Steps of a rank that began after `after_us`, the oldest `most`.
  Result<Steps> ReadSteps(int rank, std::int64_t after_us, std::size_t most);

 private:
  Connection& connection_;
  std::int64_t job_id_;
  std::vector<std::string> metrics_;
  bool few_ = true;  // new steps, as far as anyone asked
  std::map<std::tuple<std::int64_t, std::int64_t, std::int64_t, std::size_t>, Ticks> ticks_;
  std::map<std::tuple<int, std::int64_t, std::size_t>, Steps> steps_;
};

}  // namespace stepscope
