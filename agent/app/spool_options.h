#pragma once

#include <memory>
#include <span>
#include <string>

#include "agent/spool/spool_folder.h"
#include "core/base/options.h"
#include "core/base/result.h"

namespace stepscope {

// Where samples wait on disk, and how many: --spool, --spool-size.
struct SpoolOptions {
  std::string folder{};  // empty: in memory only
  std::uint64_t bytes = 64 * 1024 * 1024;
};

std::span<const Option> SpoolRows();
Result<SpoolOptions> ReadSpool(const Arguments& arguments);

// Null when samples are to wait in memory, or the folder cannot be used, which is logged.
std::unique_ptr<SpoolFolder> OpenSpool(const SpoolOptions& options);

}  // namespace stepscope
