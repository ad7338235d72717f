#pragma once

#include <cstdint>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "agent/spool/segment.h"
#include "agent/spool/spool.h"
#include "agent/spool/spool_folder.h"

namespace stepscope {

// The files of one session, in a folder of its own that is created with the first record: segments
// that only grow, the parts of gathered frames, and a hint of what the service has acknowledged. A
// failure leaves all synced bytes intact; the call may be repeated. One thread writes; any thread
// may read. `folder` outlives it.
class SessionLog {
 public:
  SessionLog(SpoolFolder& folder, SegmentHead head) : folder_(folder), head_(std::move(head)) {}
  // A session that another agent left, whose folder is locked.
  SessionLog(SpoolFolder& folder, SegmentHead head, std::unique_ptr<FolderLock> lock,
             std::uint32_t last_segment, std::uint64_t parts_base);

  // Opens a segment with room for a record of so many bytes, unless the record is larger than a
  // segment.
  Status Begin(std::uint64_t number, std::size_t bytes);
  // Whether the present segment did not have this schema; from now on it has.
  bool AddSchema(std::uint64_t hash) { return schemas_.insert(hash).second; }

  // Writes a record; returns the place of its payload. It survives the process from here on, the
  // machine once it is synced.
  Result<SpoolPlace> Append(const SegmentRecord& record);
  Status Sync();

  Result<std::string> Read(const SpoolPlace& place);

  // Keeps a copy of a frame that the service refused; returns its path, below the spool's folder.
  Result<std::string> KeepRefused(std::uint64_t number, std::string_view frame);

  // Appends parts of the frames that will have the numbers from `base` on. They replace the parts
  // of another base.
  Status AppendParts(std::uint64_t base, const std::vector<std::string>& records);
  Status ClearParts();
  std::uint64_t parts_base() const { return parts_base_; }  // 0 when there are none

  void HintAcknowledged(std::uint64_t number);

  // The first segment on disk; 1 beyond the last when there is none, 0 when it is unknown.
  std::uint32_t FirstSegment();
  // Removes segments before this one, which are no longer needed.
  void RemoveBefore(std::uint32_t segment);
  std::uint32_t next_segment() const { return segment_ + 1; }

  // Whether the folder exists.
  bool exists() const { return lock_ != nullptr; }
  void Discard();
  const std::string& name() const { return name_; }

 private:
  Status Open();
  Status OpenSegment(std::uint64_t number);
  void CloseSegment();
  std::string Path(const std::string& name) const { return name_ + "/" + name; }

  SpoolFolder& folder_;
  const SegmentHead head_;
  const std::string name_ = SessionName(head_.session);
  std::unique_ptr<FolderLock> lock_;

  std::uint32_t segment_ = 0, first_segment_ = 1;
  std::unique_ptr<AppendedFile> file_;  // for `segment_`; null: the next record begins another
  std::uint64_t bytes_ = 0;
  bool synced_ = true, folder_synced_ = true;
  std::set<std::uint64_t> schemas_;

  std::unique_ptr<AppendedFile> parts_;
  std::uint64_t parts_base_ = 0;

  std::uint64_t hinted_ = 0;  // the number in the last hint
  std::uint64_t hints_ = 0;   // number of hints
};

}  // namespace stepscope
