#include "core/trace/span_kinds.h"

#include <algorithm>
#include <cctype>

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

bool IsCommunication(std::string_view kernel) {
  if (kernel.starts_with("nccl") || kernel.starts_with("hccl")) return true;
  for (const std::string_view part : {"ncclKernel", "ncclDevKernel", "rcclGenericKernel", "nvshmem",
                                      "deep_ep::", "symm_mem", "AllReduceKernel"}) {
    if (kernel.find(part) != std::string_view::npos) return true;
  }
  return false;
}

}  // namespace stepscope
