#include "server/trace/host_waits.h"

#include <vector>

namespace stepscope {
namespace {

bool Communicates(std::string_view name) {
  return name.starts_with("gloo:") || name.starts_with("mpi:");
}

bool Copies(std::string_view call) {
  return call.find("Memcpy") != std::string_view::npos;
}

}  // namespace

bool IsSyncCall(std::string_view call) {
  return call.find("Synchronize") != std::string_view::npos;
}

bool WaitsForData(const Trace& trace, const TraceSpan& span) {
  const std::string_view name = trace.NameOf(span);
  const auto has = [&](std::string_view part) { return name.find(part) != std::string_view::npos; };
  if (span.kind == SpanKind::kAnnotation) return has("DataLoader") && has("__next__");
  // Also as IteratorGetNextOp::DoCompute, and with the name of its node in front. What a pipeline
  // does ahead, Iterator::Prefetch and its like, is no wait of the training.
  return span.kind == SpanKind::kOperator && has("IteratorGetNext");
}

HostWaits FindHostWaits(const Trace& trace) {
  std::vector<TimeRange> data, sync, communication;
  for (const TraceSpan& span : trace.spans) {
    const std::string_view name = trace.NameOf(span);
    const TimeRange range{span.start_ns, span.end_ns()};
    if (span.kind == SpanKind::kLaunch) {
      if (IsSyncCall(name) || Copies(name)) sync.push_back(range);
    } else if (WaitsForData(trace, span)) {
      data.push_back(range);
    } else if (span.kind == SpanKind::kAnnotation && Communicates(name)) {
      communication.push_back(range);
    }
  }
  return {UnionOf(std::move(data)), UnionOf(std::move(sync)), UnionOf(std::move(communication))};
}

}  // namespace stepscope
