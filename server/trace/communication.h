#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "core/base/json.h"
#include "server/trace/trace_links.h"

namespace stepscope {

// Collectives of a trace by kind, group and place: kernels of a device, or annotations of the CPU
// such as gloo:all_reduce.
struct CollectiveRow {
  std::string name, group;  // the profiler's name of the collective, else the kernel's; "" unknown
  bool on_device = false;
  std::int64_t group_size = -1;  // ranks; -1: not said
  std::uint64_t calls = 0;
  std::int64_t total_ns = 0, min_ns = 0, max_ns = 0;
  std::int64_t exposed_ns = 0;            // on a device, while it computed nothing
  std::int64_t bytes = -1, sized_ns = 0;  // summed over calls that say them; -1: none does
};

// Whether a span is a collective: a kernel that communicates, or such an annotation of the CPU.
bool IsCollective(const Trace& trace, const TraceSpan& span);
// The names that the profiler has for it and for its group; the span's own for the first, "" for
// the second where it says nothing.
const std::string& CollectiveName(const Trace& trace, const TraceSpan& span);
const std::string& GroupName(const Trace& trace, const TraceSpan& span);

std::vector<CollectiveRow> MakeCollectiveTable(const TraceLinks& links);  // the longest first
OrderedJson ToJson(const std::vector<CollectiveRow>& rows);

// By what the rate of a collective's data is multiplied to have the rate on the wire, for n ranks
// (nccl-tests, its page on performance): 2(n-1)/n of an all-reduce, (n-1)/n of gathers and
// scatters.
double BusFactor(std::string_view collective, std::int64_t ranks);

// Bytes of an element of a type as profilers name it, "Float" or "BFloat16"; 0: not known.
std::int64_t ElementBytes(std::string_view type);

}  // namespace stepscope
