#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "core/base/result.h"

namespace stepscope {

// Trace files on this machine, for `import`.

struct TraceFile {
  std::string path, name;  // the name is what follows the last slash
  std::uint64_t bytes = 0;
};

// The files that these words name: files whatever they are called, and in folders, at any depth,
// those that end like a trace. In the order of their names within a folder. Invalid names what is
// not there, or a folder without any.
Result<std::vector<TraceFile>> FindTraceFiles(const std::vector<std::string>& words);

// The bytes of a file as they are sent: packed by zstd unless they are packed already. Invalid when
// they would be more than `most`.
Result<std::string> PackTraceFile(const std::string& path, std::size_t most);

}  // namespace stepscope
