#pragma once

#include <vector>

#include "server/ingest/check/checked_push.h"
#include "server/ingest/check/samples.h"

namespace stepscope {

// Makes frames without numbers of samples: sorted, each instant once, with the first of several
// values of a series at one instant; instants without any value are left out. Series are in the
// order of their names.
std::vector<CheckedFrame> ToFrames(const Samples& samples);

}  // namespace stepscope
