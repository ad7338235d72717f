#pragma once

#include <cstdint>
#include <vector>

#include "core/wire/push_answer.h"
#include "server/ingest/check/lifecycle.h"
#include "server/store/frames/streams.h"
#include "server/store/jobs/jobs.h"

namespace stepscope {

// The commands for the agent of a stream: those behind the numbers that the cursor says it has
// answered.
std::vector<ServiceCommand> CommandsFor(const JobRow& job, const StreamCursor& stream,
                                        std::int64_t now_us);

// Notes in the cursor that the agent has answered a command.
void NoteAnswer(const Lifecycle& said, StreamCursor& stream);

}  // namespace stepscope
