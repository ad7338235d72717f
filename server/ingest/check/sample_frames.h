#pragma once

#include <vector>

#include "server/ingest/check/checked_push.h"
#include "server/ingest/check/samples.h"

namespace stepscope {

// As frames without numbers: sorted, each instant once, of several values of a series at one
// instant the first; instants without any value are left out. Series stand in the order of their
// names.
std::vector<CheckedFrame> ToFrames(const Samples& samples);

}  // namespace stepscope
