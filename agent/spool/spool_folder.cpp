#include "agent/spool/spool_folder.h"

#include <algorithm>
#include <optional>

#include "core/base/text.h"

namespace stepscope {
namespace {

constexpr std::string_view kSegmentEnding = ".seg";
constexpr std::size_t kDigits = 8;
constexpr std::uint64_t kMiB = 1024 * 1024;
constexpr std::size_t kSessionDigits = 2 * sizeof(Session);

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

std::uint64_t SpoolFolder::BytesOfSessions() {
  std::uint64_t used = 0;
  for (const std::string& session : Sessions()) {
    const auto entries = files_->List(session);
    if (!entries) continue;
    for (const FileEntry& entry : *entries) used += entry.bytes;
  }
  return used;
}

std::vector<SpoolFolder::Place> SpoolFolder::Traces() {
  std::vector<Place> traces;
  const auto folders = files_->List(kTracesFolder);
  if (!folders) return traces;
  for (const FileEntry& folder : *folders) {
    const std::string path = Format("{}/{}", kTracesFolder, folder.name);
    const auto entries = files_->List(path);
    if (!entries) continue;
    for (const FileEntry& entry : *entries) {
      traces.push_back({Format("{}/{}", path, entry.name), entry.changed_us, entry.bytes});
    }
  }
  std::ranges::sort(traces, {}, &Place::changed_us);
  return traces;
}

Status SpoolFolder::MakeRoom() {
  for (;;) {
    std::uint64_t used = BytesOfSessions();
    for (const Place& trace : Traces()) used += trace.bytes;
    if (used + kSegmentBytes <= most_bytes_) return {};
    if (Status removed = RemoveOldest(); !removed) return removed;
  }
}

Status SpoolFolder::MakeTraceRoom(std::uint64_t bytes) {
  const std::uint64_t samples = BytesOfSessions();
  if (samples + bytes > most_bytes_) {
    return Unavailable(Format("the spool has no room for {} MiB: {} of its {} MiB are samples",
                              bytes / kMiB + 1, samples / kMiB, most_bytes_ / kMiB));
  }
  const std::vector<Place> traces = Traces();
  std::uint64_t used = samples + bytes;
  for (const Place& trace : traces) used += trace.bytes;
  for (const Place& trace : traces) {
    if (used <= most_bytes_) return {};
    if (Status removed = files_->Remove(trace.path); !removed) return removed;
    used -= trace.bytes;
  }
  return {};
}

Status SpoolFolder::RemoveOldest() {
  const std::vector<Place> traces = Traces();
  if (!traces.empty()) return files_->Remove(traces.front().path);
  std::optional<Place> oldest;
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
    oldest = {session + "/" + first.name, first.changed_us, first.bytes};
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
