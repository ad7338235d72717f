#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "agent/spool/files.h"
#include "core/wire/frame.h"

namespace stepscope {

inline constexpr std::uint64_t kSegmentBytes = 1024 * 1024;
inline constexpr const char* kPartsName = "open";
inline constexpr const char* kAckedName = "acked";
inline constexpr const char* kTracesFolder = "traces";

// The name of a session's folder.
std::string SessionName(const Session& session);

// The name of a segment's file, "00000007.seg", and back; 0 for other names.
std::string SegmentName(std::uint32_t segment);
std::uint32_t SegmentOf(const std::string& name);

// The folder that the spools of this node's agents share: a folder for each session, locked by the
// agent that writes or delivers it, traces that wait, and one bound for the bytes of all. Samples
// go before traces: they may take the room of a trace, a trace never theirs. Two agents that write
// at the same time may exceed the bound. `files` must be safe for the threads that call this.
class SpoolFolder {
 public:
  SpoolFolder(std::unique_ptr<Files> files, std::uint64_t most_bytes)
      : files_(std::move(files)), most_bytes_(most_bytes) {}

  Files& files() { return *files_; }

  // The sessions that have a folder.
  std::vector<std::string> Sessions();

  // Removes the oldest traces, then the oldest segments, of any session, until another fits. The
  // newest segment of each session stays: an agent may be writing to it, and it tells that others
  // were lost. Unavailable when there is nothing more to remove.
  Status MakeRoom();
  // Removes the oldest trace or, where none waits, segment, because the disk is full.
  Status RemoveOldest();
  // Removes the oldest traces until another one of so many bytes fits beside all samples.
  // Unavailable when it does not.
  Status MakeTraceRoom(std::uint64_t bytes);

  // Removes a session's folder and its files; a file that cannot be removed stays.
  void Discard(const std::string& session);

 private:
  struct Place {
    std::string path{};
    std::int64_t changed_us = 0;
    std::uint64_t bytes = 0;
  };
  std::uint64_t BytesOfSessions();
  std::vector<Place> Traces();  // the oldest first

  std::unique_ptr<Files> files_;
  const std::uint64_t most_bytes_;
};

// Opens the folder `path` for at most so many bytes; Invalid or Internal give the reason why it
// cannot be used.
Result<std::unique_ptr<SpoolFolder>> OpenSpoolFolder(const std::string& path,
                                                     std::uint64_t most_bytes);

}  // namespace stepscope
