#pragma once

#include <memory>
#include <span>
#include <string>

#include "agent/spool/spool_folder.h"
#include "core/base/options.h"
#include "core/base/result.h"

namespace stepscope {

// Folder and size of the spool, where samples wait on disk: --spool, --spool-size.
struct SpoolOptions {
  std::string folder{};  // empty: in memory only
  std::string older{};   // folder of older versions; empty where it is the same
  std::uint64_t bytes = 64 * 1024 * 1024;
};

std::span<const Option> SpoolRows();
Result<SpoolOptions> ReadSpool(const Arguments& arguments);

// For a user who is not root: below XDG_STATE_HOME or HOME, in a folder of each host, since the
// nodes of a cluster share a home, and its locks may not reach from one to the other.
SpoolOptions SpoolOfUser(const std::string& host);

// The folder, with the sessions that ended agents have left in the older one.
Result<std::unique_ptr<SpoolFolder>> TakeSpool(const SpoolOptions& options);

// Null when samples are to wait in memory, or the folder cannot be used, which is logged.
std::unique_ptr<SpoolFolder> OpenSpool(const SpoolOptions& options);

}  // namespace stepscope
