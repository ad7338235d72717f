#pragma once

#include "core/trace/trace.h"

namespace stepscope {

// Puts a trace in order after its last event: sorts spans and memory events, removes duplicates and
// records that were never filled in, finds the steps and says to which each span belongs. A span of
// the host belongs to the step in which it begins; work of a device to the step in which it was
// launched, whenever it ran, or without a launch to the one that the device itself marks
// (device_steps.h).
//
// Times then count from the first one; Trace::base_ns moves with it.
//
// Steps are the annotations ProfilerStep#N; where there are none, a step ends where the optimizer's
// does, and steps are numbered from 0.
void Arrange(Trace& trace);

}  // namespace stepscope
