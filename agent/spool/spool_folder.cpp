#include "agent/spool/spool_folder.h"

#include <algorithm>
#include <optional>

#include "core/base/text.h"

namespace stepscope {
namespace {

constexpr std::string_view kSegmentEnding = ".seg";
constexpr std::size_t kDigits = 8;
constexpr std::size_t kSessionDigits = 2 * sizeof(Session);

struct Oldest {
  std::string path;
  std::int64_t changed_us = 0;
};

bool IsOurs(const FileEntry& entry) {
  const bool hex = entry.name.find_first_not_of("0123456789abcdef") == entry.name.npos;
  return entry.is_folder && hex && entry.name.size() == kSessionDigits;
}

}  // namespace

std::string SessionName(const Session& session) {
  return ToHex({reinterpret_cast<const char*>(session.data()), session.size()});
}

std::string SegmentName(std::uint32_t segment) {
  return Format("{:08}{}", segment, kSegmentEnding);
}

std::uint32_t SegmentOf(const std::string& name) {
  if (name.size() != kDigits + kSegmentEnding.size() || !name.ends_with(kSegmentEnding)) return 0;
  const auto number = ParseInt(name.substr(0, kDigits), "segment");
  return number ? static_cast<std::uint32_t>(*number) : 0;
}

std::vector<std::string> SpoolFolder::Sessions() {
  std::vector<std::string> sessions;
  const auto entries = files_->List("");
  if (!entries) return sessions;
  for (const FileEntry& entry : *entries) {
    if (IsOurs(entry)) sessions.push_back(entry.name);
  }
  return sessions;
}

Status SpoolFolder::MakeRoom() {
  for (;;) {
    std::uint64_t used = 0;
    for (const std::string& session : Sessions()) {
      const auto entries = files_->List(session);
      if (!entries) continue;
      for (const FileEntry& entry : *entries) used += entry.bytes;
    }
    if (used + kSegmentBytes <= most_bytes_) return {};
    if (Status removed = RemoveOldest(); !removed) return removed;
  }
}

Status SpoolFolder::RemoveOldest() {
  std::optional<Oldest> oldest;
  for (const std::string& session : Sessions()) {
    const auto entries = files_->List(session);
    if (!entries) continue;
    std::vector<const FileEntry*> segments;
    for (const FileEntry& entry : *entries) {
      if (SegmentOf(entry.name) != 0) segments.push_back(&entry);
    }
    if (segments.size() < 2) continue;
    const FileEntry& first = *segments.front();
    if (oldest && oldest->changed_us <= first.changed_us) continue;
    oldest = {session + "/" + first.name, first.changed_us};
  }
  if (!oldest) return Unavailable("the spool is full, and nothing in it may go");
  return files_->Remove(oldest->path);
}

void SpoolFolder::Discard(const std::string& session) {
  const auto entries = files_->List(session);
  if (!entries) return;
  for (const FileEntry& entry : *entries) (void)files_->Remove(session + "/" + entry.name);
  (void)files_->RemoveFolder(session);
}

Result<std::unique_ptr<SpoolFolder>> OpenSpoolFolder(const std::string& path,
                                                     std::uint64_t most_bytes) {
  auto files = OpenFiles(path);
  if (!files) return files.error();
  return std::make_unique<SpoolFolder>(std::move(*files), most_bytes);
}

}  // namespace stepscope
