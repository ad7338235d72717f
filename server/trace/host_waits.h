#pragma once

#include "core/trace/trace.h"
#include "server/trace/intervals.h"

namespace stepscope {

// When the host waited, on any thread, by the names of calls and annotations.
struct HostWaits {
  TimeRanges data;           // for the next batch
  TimeRanges sync;           // in a call that synchronizes or copies
  TimeRanges communication;  // in a collective on the CPU: gloo:all_reduce
};

HostWaits FindHostWaits(const Trace& trace);

// Whether a call of the runtime waits for the device until it returns.
bool IsSyncCall(std::string_view call);
// Whether a span is a wait for the next batch: of a DataLoader of PyTorch, or of the tf.data
// iterator that TensorFlow and JAX take batches from.
bool WaitsForData(const Trace& trace, const TraceSpan& span);

}  // namespace stepscope
