#pragma once

#include <cstdint>
#include <vector>

#include "core/wire/push_answer.h"
#include "server/ingest/check/lifecycle.h"
#include "server/store/frames/streams.h"
#include "server/store/jobs/jobs.h"

namespace stepscope {

// What is asked of the agent of a stream that stands so: it has answered the commands of these
// numbers, and those before them.
std::vector<ServiceCommand> CommandsFor(const JobRow& job, const StreamCursor& stream,
                                        std::int64_t now_us);

// Brings up to date how the stream stands, where its agent has answered a command.
void NoteAnswer(const Lifecycle& said, StreamCursor& stream);

}  // namespace stepscope
