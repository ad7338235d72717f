#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "core/base/descriptor.h"
#include "core/base/result.h"

namespace stepscope {

// Trace files on this machine, for `import`.

struct TraceFile {
  std::string path, name;  // the name is what follows the last slash
  std::uint64_t bytes = 0;
  std::string left_out{};  // why a file of a folder is not sent; "" for one that is
};

// The files that these words name: files whatever they are called, and in folders, at any depth,
// those that end like a trace; a profile that lies there in two forms is sent in one. In the order
// of their names within a folder. Invalid names what is not there, or a folder without any.
Result<std::vector<TraceFile>> FindTraceFiles(const std::vector<std::string>& words);

// A trace file as it is sent.
struct PackedTrace {
  Descriptor file;
  std::uint64_t bytes = 0;
};

// The service takes no more than this of a trace file, as it is sent.
inline constexpr std::uint64_t kMostTraceFile = std::uint64_t{2} << 30;

// The file itself where it is packed, else a file without a name beside the other temporary ones,
// packed by zstd. Invalid when it would have more than `most` bytes, or there is no room for it.
Result<PackedTrace> PackTraceFile(const std::string& path, std::uint64_t most);

}  // namespace stepscope
