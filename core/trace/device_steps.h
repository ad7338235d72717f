#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "core/trace/trace.h"

namespace stepscope {

// The steps that a device marks itself, on a line named Steps, as TPUs do: their work has no number
// that joins it to a launch of the host.
class DeviceSteps {
 public:
  // Spans are in order, and the trace's steps are found.
  explicit DeviceSteps(const Trace& trace);

  // The index of the trace's step in which work of a device began; kNoStep where it is not known.
  std::int32_t StepOf(const TraceSpan& work) const;

 private:
  void Match(std::vector<TraceStep>& steps, std::vector<std::int32_t>& places) const;

  struct OfProcess {
    std::vector<TraceStep> steps;      // as the device has them
    std::vector<std::int32_t> places;  // of these among the trace's steps
  };
  const Trace& trace_;
  std::map<std::string, OfProcess, std::less<>> processes_;
};

// The step, by its place, in which a moment lies; kNoStep between steps.
std::int32_t StepAt(const std::vector<TraceStep>& steps, std::int64_t at_ns);

}  // namespace stepscope
