#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "agent/spool/spool_folder.h"

namespace stepscope {

// Gives the bytes of a trace's body from there on, as many as fit; 0 where they cannot be read.
using ReadTraceAt = std::function<std::size_t(std::uint64_t at, std::span<char> into)>;

// A trace as it is sent. Its body lies in a file: memory has pieces of it only.
struct WaitingTrace {
  std::string service{};  // the URL of the service that it is meant for
  std::string path{};     // the request's, below the service's URL, with its query
  std::string name{};     // as logs say it
  ReadTraceAt read{};     // valid as long as where it lies
  std::uint64_t bytes = 0;
  std::uint32_t crc32c = 0;
};

// The bytes of a trace's file: a line of JSON, which says what it is and its checksum, and the
// body.
std::string EncodeTraceHead(const WaitingTrace& trace);

// Traces of one agent that wait on disk for the service, each a file, in a folder of their own
// below `kTracesFolder` in the spool. The folder is made with the first one and locked as long as
// this object lives; it goes with the last one. For one thread. `spool` outlives it.
class WaitingTraces {
 public:
  explicit WaitingTraces(SpoolFolder& spool) : spool_(spool) {}
  // What another agent has left in the folder of this name, which is locked.
  WaitingTraces(SpoolFolder& spool, std::string name, std::unique_ptr<FolderLock> lock);
  ~WaitingTraces();

  // Writes and syncs one. Unavailable where the spool or the disk has no room for it.
  Status Keep(const WaitingTrace& trace);

  // The files, the oldest first.
  std::vector<std::string> Files() const;
  // Reads all of it once, to check it. NotFound: it was removed, because the spool is full.
  // Invalid: it is damaged or cut short.
  Result<WaitingTrace> Read(const std::string& file) const;
  // A trace without its body, which is neither read nor checked.
  Result<WaitingTrace> ReadHead(const std::string& file) const;
  void Remove(const std::string& file);

 private:
  Status Open();
  std::string PathOf(const std::string& file) const;

  SpoolFolder& spool_;
  std::string name_;
  std::unique_ptr<FolderLock> lock_;  // null: there is no folder
  std::uint32_t kept_ = 0;
};

// What agents have left that are no more, oldest first.
std::vector<std::unique_ptr<WaitingTraces>> AbandonedTraces(SpoolFolder& spool);

}  // namespace stepscope
