#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "core/trace/trace.h"

namespace stepscope {

// The kind that a category of a trace file stands for; kOther for an unknown one. Kernels of
// communication are told by IsCommunication.
SpanKind KindOfCategory(std::string_view category);

// The kind of a span without a category by the place where it is, as TensorFlow, JAX and Ascend
// have it: the names of its process ("/host:CPU", "/device:GPU:0", "Ascend Hardware") and its
// thread
// ("Stream #13(Compute)"). kOther for another place.
SpanKind KindInPlace(std::string_view process, std::string_view thread, std::string_view name);

// Whether a process of an Ascend trace is of its device: one of several, which have no numbers.
bool IsAscendDevice(std::string_view process);

// The number of a device in the name of its process, and that of a stream in the name of its
// thread.
std::optional<std::int64_t> DeviceIn(std::string_view process);
std::optional<std::int64_t> StreamIn(std::string_view thread);

// Whether a kernel moves data between ranks: NCCL, RCCL, HCCL, MSCCL, NVSHMEM, DeepEP, symmetric
// memory, all-reduces of inference engines, collectives of XLA.
bool IsCommunication(std::string_view kernel);

}  // namespace stepscope
