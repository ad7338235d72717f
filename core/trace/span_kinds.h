#pragma once

#include <string_view>

#include "core/trace/trace.h"

namespace stepscope {

// The kind that a category of a trace file stands for; kOther for an unknown one. Kernels of
// communication are told by IsCommunication.
SpanKind KindOfCategory(std::string_view category);

// Whether a kernel moves data between ranks: NCCL, RCCL, HCCL, NVSHMEM, DeepEP, symmetric memory.
bool IsCommunication(std::string_view kernel);

}  // namespace stepscope
