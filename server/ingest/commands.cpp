#include "server/ingest/commands.h"

#include <algorithm>

#include "core/base/text.h"
#include "server/store/jobs/interval_requests.h"

namespace stepscope {
namespace {

ServiceCommand CommandOf(std::string_view kind, std::int64_t number) {
  return {.id = Format("{}-{}", kind, number), .kind = std::string(kind)};
}

}  // namespace

std::vector<ServiceCommand> CommandsFor(const JobRow& job, const StreamCursor& stream,
                                        std::int64_t now_us) {
  std::vector<ServiceCommand> commands;
  if (HasEnded(job.status)) return commands;
  const std::int64_t change = IntervalChanges(job.configuration);
  if (change > stream.interval_answered) {
    commands.push_back(CommandOf(kIntervalCommand, change));
    commands.back().interval_ms = IntervalMs(job.configuration);
  }
  if (job.status == JobStatus::kStopping && job.stop_requests > stream.stop_answered) {
    commands.push_back(CommandOf(kStopCommand, job.stop_requests));
  }
  const NewestWindow& window = job.window;
  if (window.window_id > stream.window_answered && now_us < window.until_us) {
    commands.push_back(CommandOf(kSpansCommand, window.window_id));
    commands.back().start_step = window.start_step;
    commands.back().num_steps = window.num_steps;
    commands.back().window_id = window.window_id;
    commands.back().operators = window.operators;
    commands.back().shapes = window.shapes;
    commands.back().wait_seconds = (window.until_us - now_us) / 1'000'000;
  }
  return commands;
}

// The numbers are 0 in frames that answer no command of this kind.
void NoteAnswer(const Lifecycle& said, StreamCursor& stream) {
  stream.interval_answered = std::max(stream.interval_answered, said.interval_change);
  stream.stop_answered = std::max(stream.stop_answered, said.stop_request);
  stream.window_answered = std::max(stream.window_answered, said.window_id);
}

}  // namespace stepscope
