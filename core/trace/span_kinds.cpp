#include "core/trace/span_kinds.h"

#include <algorithm>
#include <cctype>

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

bool IsEqual(std::string_view given, std::string_view lower) {
  return std::ranges::equal(given, lower, [](char one, char other) {
    return std::tolower(static_cast<unsigned char>(one)) == other;
  });
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
  if (!process.starts_with("/device:")) return SpanKind::kOther;
  // Other lines are derived of these: steps, modules, operators, scopes.
  const bool stream = thread.starts_with("Stream") || thread.starts_with("stream");
  if (!stream && thread != "XLA Ops") return SpanKind::kGpuAnnotation;
  if (!stream && !process.starts_with("/device:TPU")) return SpanKind::kGpuAnnotation;
  if (name.starts_with("Memcpy") || name.starts_with("memcpy")) return SpanKind::kCopy;
  if (name.starts_with("Memset") || name.starts_with("memset")) return SpanKind::kSet;
  return SpanKind::kKernel;
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
  if (kernel.starts_with("nccl") || kernel.starts_with("hccl")) return true;
  for (const std::string_view part : {"ncclKernel", "ncclDevKernel", "rcclGenericKernel", "nvshmem",
                                      "deep_ep::", "symm_mem", "AllReduceKernel"}) {
    if (kernel.find(part) != std::string_view::npos) return true;
  }
  return false;
}

}  // namespace stepscope
