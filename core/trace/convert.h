#pragma once

#include "core/trace/byte_source.h"
#include "core/trace/span_builder.h"
#include "core/trace/trace.h"

namespace stepscope {

// Reads a trace file of PyTorch (Kineto), a profile of TensorFlow or JAX (XPlane, or their
// trace.json.gz), a timeline of the cloud debugger, or any Chrome trace, plain or packed by gzip or
// zstd, in one pass and bounded memory. Never fails: what could not be read is in the trace's
// faults, and a file that is no trace has no spans. The trace is arranged (core/trace/arrange.h).
Trace ConvertTrace(ReadBytes read, const TraceLimits& limits = {});

}  // namespace stepscope
