#include "core/trace/span_kinds.h"

#include <algorithm>
#include <cctype>
#include <initializer_list>

#include "core/trace/trace_event.h"

namespace stepscope {
namespace {

struct CategoryRow {
  std::string_view category;
  SpanKind kind;
};
// Files of 2021 begin with capitals, so names are compared without case.
constexpr CategoryRow kCategories[] = {
    {"cpu_op", SpanKind::kOperator},
    {"operator", SpanKind::kOperator},
    {"kernel", SpanKind::kKernel},
    {"cuda_runtime", SpanKind::kLaunch},
    {"cuda_driver", SpanKind::kLaunch},
    {"python_function", SpanKind::kPython},
    {"user_annotation", SpanKind::kAnnotation},
    {"gpu_user_annotation", SpanKind::kGpuAnnotation},
    {"gpu_memcpy", SpanKind::kCopy},
    {"gpu_memset", SpanKind::kSet},
    {"memcpy", SpanKind::kCopy},
    {"memset", SpanKind::kSet},
    {"runtime", SpanKind::kLaunch},
    {"hip_runtime", SpanKind::kLaunch},
    {"xpu_runtime", SpanKind::kLaunch},
    {"xpu_driver", SpanKind::kLaunch},
    {"mtia_runtime", SpanKind::kLaunch},
    {"privateuse1_runtime", SpanKind::kLaunch},
    {"privateuse1_driver", SpanKind::kLaunch},
    {"collective_comm", SpanKind::kCommunication},
    {"communication", SpanKind::kCommunication},
    {"cuda_sync", SpanKind::kSync},
    {"cuda_event", SpanKind::kSync},
    {"xpu_sync", SpanKind::kSync},
    {"overhead", SpanKind::kOverhead},
    {"trace", SpanKind::kOther},
};

constexpr std::string_view kAscendHardware = "Ascend Hardware";

// Parts of the names of kernels that move data between ranks.
enum class Place { kBegin, kWord, kAnywhere };
struct CommunicationRow {
  std::string_view part;
  Place place = Place::kAnywhere;
};
constexpr CommunicationRow kCommunication[] = {
    {"nccl", Place::kBegin},
    {"hccl", Place::kBegin},
    {"hcom_", Place::kBegin},
    {"ncclKernel"},
    {"ncclDevKernel"},
    {"rcclGenericKernel"},
    {"nvshmem"},
    {"deep_ep::"},
    {"symm_mem"},
    {"AllReduceKernel"},
    // Symmetric memory of PyTorch.
    {"multimem_all_reduce_kernel"},
    {"multimem_one_shot_all_reduce_kernel"},
    {"one_shot_all_reduce_kernel"},
    {"two_shot_all_reduce_kernel"},
    // vLLM, SGLang, AITER.
    {"cross_device_reduce"},
    // MSCCL in RCCL, MSCCL++.
    {"mscclKernel"},
    {"mscclpp"},
    // XLA: also with -start and -done, a number, and as part of a fusion's name.
    {"all-reduce", Place::kWord},
    {"all-gather", Place::kWord},
    {"reduce-scatter", Place::kWord},
    {"collective-permute", Place::kWord},
    {"collective-broadcast", Place::kWord},
    {"all-to-all", Place::kWord},
};

bool IsLetter(char c) {
  return std::isalnum(static_cast<unsigned char>(c)) != 0;
}

bool IsCalled(std::string_view kernel, std::string_view part, Place place) {
  if (place == Place::kBegin) return kernel.starts_with(part);
  for (std::size_t at = kernel.find(part); at != std::string_view::npos;
       at = kernel.find(part, at + 1)) {
    if (place == Place::kAnywhere) return true;
    const std::size_t behind = at + part.size();
    const bool begins = at == 0 || !IsLetter(kernel[at - 1]);
    if (begins && (behind == kernel.size() || !IsLetter(kernel[behind]))) return true;
  }
  return false;
}

bool IsEqual(std::string_view given, std::string_view lower) {
  return std::ranges::equal(given, lower, [](char one, char other) {
    return std::tolower(static_cast<unsigned char>(one)) == other;
  });
}

bool BeginsWithAny(std::string_view name, std::initializer_list<std::string_view> begins) {
  return std::ranges::any_of(begins, [&](std::string_view each) { return name.starts_with(each); });
}

// trace_view.json of torch_npu and msprof: streams of the device, collectives beside them, and the
// calls of CANN that launch. What is computed of these is no work.
SpanKind KindOnAscend(std::string_view process, std::string_view thread, std::string_view name) {
  if (process == "CANN") return SpanKind::kLaunch;
  if (process == "Overlap Analysis") return SpanKind::kGpuAnnotation;
  if (process == "Communication" || process == "HCCL") {  // the parts of a collective lie below it
    if (name.starts_with("hcom_")) return SpanKind::kKernel;
    return BeginsWithAny(thread, {"Plane", "Group"}) ? SpanKind::kGpuAnnotation : SpanKind::kOther;
  }
  if (process != kAscendHardware) return SpanKind::kOther;
  if (!thread.starts_with("Stream")) return SpanKind::kGpuAnnotation;
  if (BeginsWithAny(name, {"MEMCPY", "Memcpy"})) return SpanKind::kCopy;
  if (BeginsWithAny(name, {"EVENT_", "Event", "NOTIFY_", "Notify", "PROFILING_"})) {
    return SpanKind::kSync;
  }
  return SpanKind::kKernel;
}

}  // namespace

std::string_view ToText(SpanKind kind) {
  return kSpanKindWords[static_cast<std::size_t>(kind)];
}

bool IsDeviceWork(SpanKind kind) {
  return kind == SpanKind::kKernel || kind == SpanKind::kCommunication || kind == SpanKind::kCopy ||
         kind == SpanKind::kSet;
}

SpanKind KindOfCategory(std::string_view category) {
  for (const CategoryRow& row : kCategories) {
    if (row.category.size() == category.size() && IsEqual(category, row.category)) return row.kind;
  }
  return SpanKind::kOther;
}

SpanKind KindInPlace(std::string_view process, std::string_view thread, std::string_view name) {
  if (process.starts_with("/host:")) {
    if (name.starts_with("$")) return SpanKind::kPython;  // "$train.py:12 step"
    const bool call = name.starts_with("cuda") || name.starts_with("hip") ||
                      (name.starts_with("cu") && name.size() > 2 &&
                       std::isupper(static_cast<unsigned char>(name[2])) != 0);
    return call ? SpanKind::kLaunch : SpanKind::kOperator;
  }
  if (!process.starts_with("/device:")) return KindOnAscend(process, thread, name);
  // Other lines are derived of these: steps, modules, operators, scopes.
  const bool stream = thread.starts_with("Stream") || thread.starts_with("stream");
  if (!stream && thread != "XLA Ops") return SpanKind::kGpuAnnotation;
  if (!stream && !process.starts_with("/device:TPU")) return SpanKind::kGpuAnnotation;
  if (name.starts_with("Memcpy") || name.starts_with("memcpy")) return SpanKind::kCopy;
  if (name.starts_with("Memset") || name.starts_with("memset")) return SpanKind::kSet;
  return SpanKind::kKernel;
}

bool IsAscendDevice(std::string_view process) {
  return process == kAscendHardware || process == "Communication" || process == "HCCL";
}

std::optional<std::int64_t> DeviceIn(std::string_view process) {
  const std::size_t colon = process.rfind(':');
  return colon == std::string_view::npos ? std::nullopt : IntegerOf(process.substr(colon + 1));
}

std::optional<std::int64_t> StreamIn(std::string_view thread) {
  constexpr std::string_view kDigits = "0123456789";
  const std::size_t first = thread.find_first_of(kDigits);
  if (first == std::string_view::npos) return std::nullopt;
  return IntegerOf(thread.substr(first, thread.find_first_not_of(kDigits, first) - first));
}

bool IsCommunication(std::string_view kernel) {
  return std::ranges::any_of(kCommunication, [&](const CommunicationRow& row) {
    return IsCalled(kernel, row.part, row.place);
  });
}

}  // namespace stepscope
