#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "core/base/json.h"
#include "server/trace/trace_links.h"

namespace stepscope {

// Copies and sets of devices by name: "Memcpy HtoD (Pinned -> Device)".
struct CopyRow {
  std::string name, launched_by;  // the operator that launched most of their time; "" unknown
  bool sets = false;              // fills memory, copies nothing
  std::uint64_t calls = 0;
  std::int64_t bytes = -1;                  // summed over calls that say them; -1: none does
  std::int64_t total_ns = 0, sized_ns = 0;  // of all; of those that say their bytes
  std::int64_t exposed_ns = 0;              // while no kernel of their device ran
};

std::vector<CopyRow> MakeCopyTable(const TraceLinks& links);  // the longest total first
OrderedJson ToJson(const std::vector<CopyRow>& rows);

// HtoD, DtoH, DtoD, PtoP or HtoH; "" when the name does not say it.
std::string_view DirectionOf(std::string_view copy);
// Whether the host's memory was pinned or pageable; "" when the name does not say it.
std::string_view HostMemoryOf(std::string_view copy);

}  // namespace stepscope
