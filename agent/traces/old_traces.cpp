#include "agent/traces/old_traces.h"

#include <algorithm>
#include <utility>

#include "core/base/log.h"
#include "core/base/text.h"

namespace stepscope {

OldTraces::OldTraces(SpoolFolder& spool, std::string service)
    : service_(std::move(service)), folders_(AbandonedTraces(spool)) {
  for (const auto& folder : folders_) {
    for (std::string& file : folder->Files()) {
      const Result<WaitingTrace> trace = folder->ReadHead(file);
      if (trace && !service_.empty() && trace->service != service_) continue;
      next_.push_back({folder.get(), file, trace ? Printable(trace->name) : file});
    }
  }
  if (!next_.empty()) {
    LogInfo("the spool holds {} traces, left by another agent", next_.size());
  }
}

Duration OldTraces::Step(Uplink& uplink) {
  if (next_.empty()) return {};
  const Waiting& oldest = next_.front();
  const Result<WaitingTrace> trace = oldest.folder->Read(oldest.file);
  if (!trace) return Finish("are lost: " + trace.error().message);
  const TraceAnswer answer = PostTrace(uplink, *trace);
  using enum TraceAnswer::End;
  reason_ = answer.reason;
  if (answer.end == kTaken) return ++sent_, Finish("");
  if (answer.end != kLater) return Finish("are not wanted: " + answer.reason);
  pause_ = std::clamp(2 * pause_, kTracePause, kLongestTracePause);
  return std::max(answer.wait, pause_);
}

Duration OldTraces::Finish(const std::string& said) {
  const Waiting done = std::move(next_.front());
  next_.pop_front();
  done.folder->Remove(done.file);
  if (!said.empty()) {
    LogWarning("{}, left by another agent, {}", done.name, said);
  } else {
    LogInfo("{}, left by another agent, are sent", done.name);
  }
  pause_ = {};
  reason_.clear();
  return {};
}

std::vector<std::string> OldTraces::Left() const {
  std::vector<std::string> names;
  for (const Waiting& one : next_) names.push_back(one.name);
  return names;
}

}  // namespace stepscope
