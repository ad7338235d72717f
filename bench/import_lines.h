#pragma once

#include <string>

#include "core/model/table.h"

namespace stepscope {

// Ticks of a node as the lines of JSON that VictoriaMetrics takes at /api/v1/import: one for each
// series, times in milliseconds.
std::string ImportLines(const Schema& schema, const Table& ticks, const std::string& job,
                        const std::string& node);

}  // namespace stepscope
