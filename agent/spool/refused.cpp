#include "agent/spool/refused.h"

#include <algorithm>

#include "agent/spool/spool_folder.h"
#include "core/base/text.h"
#include "core/wire/frame.h"

namespace stepscope {
namespace {

constexpr std::string_view kRefusedEnding = ".frames";

std::string PathOf(const std::string& name) {
  return Format("{}/{}", kRefusedFolder, name);
}

// Removes the oldest copies until a new one fits. Files of other names stay.
void MakeRoom(Files& files, std::uint64_t bytes) {
  auto entries = files.List(kRefusedFolder);
  if (!entries) return;
  std::erase_if(*entries, [](const FileEntry& entry) {
    return entry.is_folder || !entry.name.ends_with(kRefusedEnding);
  });
  std::ranges::sort(*entries, {}, &FileEntry::changed_us);
  std::size_t left = entries->size();
  for (const FileEntry& entry : *entries) bytes += entry.bytes;
  for (const FileEntry& entry : *entries) {
    if (bytes <= kMostRefusedBytes && left < kMostRefusedFrames) return;
    (void)files.Remove(PathOf(entry.name));
    bytes -= entry.bytes;
    --left;
  }
}

}  // namespace

Result<std::string> KeepRefused(Files& files, const Session& session, std::uint64_t number,
                                std::string_view frame) {
  std::string recording;
  AppendToPush(recording, frame);
  const Status folder = files.MakeFolder(kRefusedFolder);
  if (!folder && folder.error().code != Code::kConflict) return folder.error();
  MakeRoom(files, recording.size());
  const std::string path = PathOf(Format("{}-{}{}", SessionName(session), number, kRefusedEnding));
  auto file = files.Create(path, recording.size());
  // The frame was refused before.
  if (!file && file.error().code == Code::kConflict) return path;
  if (!file) return file.error();
  if (Status written = (*file)->Append(recording); !written) {
    (void)files.Remove(path);
    return written.error();
  }
  return path;
}

}  // namespace stepscope
