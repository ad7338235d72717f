#include "agent/spool/session_log.h"

#include <algorithm>

#include "agent/spool/refused.h"
#include "core/base/text.h"
#include "core/wire/bytes.h"
#include "core/wire/crc32c.h"

namespace stepscope {

SessionLog::SessionLog(SpoolFolder& folder, SegmentHead head, std::unique_ptr<FolderLock> lock,
                       std::uint32_t last_segment, std::uint64_t parts_base)
    : folder_(folder),
      head_(std::move(head)),
      lock_(std::move(lock)),
      segment_(last_segment),
      parts_base_(parts_base) {}

// Another agent that searches for old sessions may hold the folder's lock briefly, or have removed
// the folder.
Status SessionLog::Open() {
  if (exists()) return {};
  Status made = folder_.files().MakeFolder(name_);
  if (!made && made.error().code != Code::kConflict) return made;
  auto lock = folder_.files().Lock(name_);
  if (!lock) return lock.error();
  if (Status synced = folder_.files().SyncFolder(""); !synced) return synced;
  lock_ = std::move(*lock);
  return {};
}

Status SessionLog::OpenSegment(std::uint64_t number) {
  if (Status room = folder_.MakeRoom(); !room) return room;
  Files& files = folder_.files();
  const std::string path = Path(SegmentName(segment_ + 1));
  auto file = files.Create(path, kSegmentBytes);
  while (!file && file.error().code == Code::kUnavailable && folder_.RemoveOldest()) {
    file = files.Create(path, kSegmentBytes);
  }
  if (!file) {
    // The file is left from a failure halfway.
    if (file.error().code == Code::kConflict) ++segment_;
    // Our folder was removed: the next try creates it again.
    if (file.error().code == Code::kNotFound) lock_ = nullptr;
    return file.error();
  }
  ++segment_;
  const std::string head = EncodeHeadRecord(head_, number);
  if (Status written = (*file)->Append(head); !written) return written;
  file_ = std::move(*file);
  bytes_ = head.size();
  synced_ = folder_synced_ = false;
  schemas_.clear();
  return {};
}

void SessionLog::CloseSegment() {
  file_ = nullptr;
  schemas_.clear();
}

Status SessionLog::Begin(std::uint64_t number, std::size_t bytes) {
  if (Status opened = Open(); !opened) return opened;
  if (file_ && bytes_ + bytes + kRecordHeaderBytes > kSegmentBytes) {
    if (Status synced = Sync(); !synced) return synced;
    CloseSegment();
  }
  return file_ ? Status() : OpenSegment(number);
}

Result<SpoolPlace> SessionLog::Append(const SegmentRecord& record) {
  if (!file_) {
    if (Status begun = Begin(record.number, record.payload.size()); !begun) return begun.error();
  }
  const std::string bytes = EncodeRecord(record);
  if (Status written = file_->Append(bytes); !written) {
    CloseSegment();  // it may end in half a record
    return written.error();
  }
  const auto offset = static_cast<std::uint32_t>(bytes_ + kRecordHeaderBytes);
  bytes_ += bytes.size();
  synced_ = false;
  return SpoolPlace{segment_, offset, static_cast<std::uint32_t>(record.payload.size())};
}

Status SessionLog::Sync() {
  if (synced_) return {};
  if (!file_) return Internal("a segment of the spool could not be written to its end");
  Status synced = file_->Sync();
  if (synced && !folder_synced_) synced = folder_.files().SyncFolder(name_);
  if (!synced) {
    CloseSegment();  // another sync may falsely succeed
    return synced;
  }
  synced_ = folder_synced_ = true;
  return {};
}

Result<std::string> SessionLog::Read(const SpoolPlace& place) {
  auto bytes = folder_.files().Read(Path(SegmentName(place.segment)), place.offset, place.bytes);
  if (bytes && bytes->size() != place.bytes) return Internal("a segment of the spool is cut short");
  return bytes;
}

Result<std::string> SessionLog::KeepRefused(std::uint64_t number, std::string_view frame) {
  return stepscope::KeepRefused(folder_.files(), head_.session, number, frame);
}

Status SessionLog::AppendParts(std::uint64_t base, const std::vector<std::string>& records) {
  if (records.empty()) return {};
  if (Status opened = Open(); !opened) return opened;
  if (parts_base_ != base || !parts_) {
    if (Status cleared = ClearParts(); !cleared) return cleared;
    auto file = folder_.files().Create(Path(kPartsName), 0);
    if (!file) return file.error();
    parts_base_ = base;
    if (Status headed = (*file)->Append(EncodeHeadRecord(head_, base)); !headed) return headed;
    if (Status synced = folder_.files().SyncFolder(name_); !synced) return synced;
    parts_ = std::move(*file);
  }
  std::string bytes;
  for (const std::string& record : records) bytes += record;
  if (Status written = parts_->Append(bytes); !written) return written;
  return parts_->Sync();
}

Status SessionLog::ClearParts() {
  if (parts_base_ == 0) return {};
  Status removed = folder_.files().Remove(Path(kPartsName));
  if (!removed && removed.error().code != Code::kNotFound) return removed;
  parts_ = nullptr;
  parts_base_ = 0;
  return {};
}

// Writes to two slots in turn, so that one of them is always whole. Never synced: a wrong hint only
// lets frames be sent twice.
void SessionLog::HintAcknowledged(std::uint64_t number) {
  if (!exists() || number == hinted_) return;
  std::string slot;
  Put(slot, number);
  Put(slot, Crc32c(slot));
  hinted_ = number;
  (void)folder_.files().WriteAt(Path(kAckedName), (hints_++ % 2) * slot.size(), slot);
}

std::uint32_t SessionLog::FirstSegment() {
  const auto entries = folder_.files().List(name_);
  if (!entries) return entries.error().code == Code::kNotFound ? next_segment() : 0;
  for (const FileEntry& entry : *entries) {
    if (const std::uint32_t segment = SegmentOf(entry.name); segment != 0) return segment;
  }
  return next_segment();
}

void SessionLog::RemoveBefore(std::uint32_t segment) {
  if (!exists()) return;
  if (segment > segment_) CloseSegment();
  for (; first_segment_ < segment && first_segment_ <= segment_; ++first_segment_) {
    (void)folder_.files().Remove(Path(SegmentName(first_segment_)));
  }
}

void SessionLog::Discard() {
  if (!exists()) return;
  CloseSegment();
  parts_ = nullptr;
  parts_base_ = 0;
  folder_.Discard(name_);
  lock_ = nullptr;
}

}  // namespace stepscope
