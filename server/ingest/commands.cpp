#include "server/ingest/commands.h"

#include "core/base/text.h"
#include "server/store/intervals.h"

namespace stepscope {
namespace {

ServiceCommand CommandOf(std::string_view kind, std::int64_t number) {
  return {.id = Format("{}-{}", kind, number), .kind = std::string(kind)};
}

}  // namespace

std::vector<ServiceCommand> CommandsFor(const JobRow& job, std::int64_t interval_answered,
                                        std::int64_t stop_answered) {
  std::vector<ServiceCommand> commands;
  if (HasEnded(job.status)) return commands;
  const std::int64_t change = IntervalChanges(job.configuration);
  if (change > interval_answered) {
    commands.push_back(CommandOf(kIntervalCommand, change));
    commands.back().interval_ms = IntervalMs(job.configuration);
  }
  if (job.status == JobStatus::kStopping && job.stop_requests > stop_answered) {
    commands.push_back(CommandOf(kStopCommand, job.stop_requests));
  }
  return commands;
}

}  // namespace stepscope
