#include "agent/spool/waiting_traces.h"

#include <algorithm>

#include "core/base/json.h"
#include "core/base/text.h"
#include "core/wire/crc32c.h"
#include "core/wire/frame.h"

namespace stepscope {
namespace {

constexpr std::string_view kEnding = ".trace", kRequests = "/api/v1/jobs/";
constexpr std::size_t kMostHead = 16 * 1024;
constexpr std::uint64_t kMostFile = 256 * 1024 * 1024;
constexpr std::size_t kPiece = 1024 * 1024;

std::string TextOf(const Json& json, const char* key) {
  const auto found = json.find(key);
  return found != json.end() && found->is_string() ? found->get<std::string>() : "";
}

std::uint64_t NumberOf(const Json& json, const char* key) {
  const auto found = json.find(key);
  return found != json.end() && found->is_number_unsigned() ? found->get<std::uint64_t>() : 0;
}

std::string FolderOf(const std::string& name) {
  return Format("{}/{}", kTracesFolder, name);
}

// The first line of a file.
struct TraceHead {
  WaitingTrace trace;     // without its body
  std::size_t bytes = 0;  // with the line's end
};

Result<TraceHead> DecodeHead(std::string_view bytes) {
  const std::size_t end = bytes.substr(0, kMostHead).find('\n');
  if (end == bytes.npos) return Invalid("it does not say what it is");
  auto json = ParseJson(bytes.substr(0, end), {.bytes = kMostHead});
  if (!json || !json->is_object()) return Invalid("it does not say what it is");
  WaitingTrace trace{.service = TextOf(*json, "service"),
                     .path = TextOf(*json, "path"),
                     .name = TextOf(*json, "name"),
                     .bytes = NumberOf(*json, "bytes"),
                     .crc32c = static_cast<std::uint32_t>(NumberOf(*json, "crc32c"))};
  if (!trace.path.starts_with(kRequests)) return Invalid("it does not say where it is to be sent");
  return TraceHead{std::move(trace), end + 1};
}

// Takes each piece of the body; false where they are fewer than it has.
Result<bool> EachPiece(const WaitingTrace& trace,
                       const std::function<Status(std::string_view piece)>& take) {
  std::string piece(kPiece, '\0');
  for (std::uint64_t at = 0; at < trace.bytes;) {
    const auto some = std::size_t(std::min<std::uint64_t>(kPiece, trace.bytes - at));
    const std::size_t got = trace.read(at, std::span(piece.data(), some));
    if (got == 0) return false;
    if (Status taken = take(std::string_view(piece.data(), got)); !taken) return taken.error();
    at += got;
  }
  return true;
}

}  // namespace

std::string EncodeTraceHead(const WaitingTrace& trace) {
  return Dump(Json{{"service", trace.service},
                   {"path", trace.path},
                   {"name", trace.name},
                   {"bytes", trace.bytes},
                   {"crc32c", trace.crc32c}}) +
         "\n";
}

WaitingTraces::WaitingTraces(SpoolFolder& spool, std::string name, std::unique_ptr<FolderLock> lock)
    : spool_(spool), name_(std::move(name)), lock_(std::move(lock)) {}

WaitingTraces::~WaitingTraces() {
  if (!lock_) return;
  (void)spool_.files().RemoveFolder(FolderOf(name_));  // not where one waits
  (void)spool_.files().RemoveFolder(kTracesFolder);
}

std::string WaitingTraces::PathOf(const std::string& file) const {
  return Format("{}/{}", FolderOf(name_), file);
}

// Another agent that searches for abandoned traces may lock or remove the new folder at once, so
// that the next call makes another.
Status WaitingTraces::Open() {
  if (lock_) return {};
  stepscope::Files& files = spool_.files();
  Status made = files.MakeFolder(kTracesFolder);
  if (!made && made.error().code != Code::kConflict) return made;
  name_ = SessionName(NewSession());
  if (made = files.MakeFolder(FolderOf(name_)); !made) return made;
  auto lock = files.Lock(FolderOf(name_));
  if (!lock) return lock.error();
  for (const std::string& folder : {std::string(), std::string(kTracesFolder)}) {
    if (Status synced = files.SyncFolder(folder); !synced) return synced;
  }
  lock_ = std::move(*lock);
  return {};
}

Status WaitingTraces::Keep(const WaitingTrace& trace) {
  const std::string head = EncodeTraceHead(trace);
  const std::uint64_t bytes = head.size() + trace.bytes;
  if (Status room = spool_.MakeTraceRoom(bytes); !room) return room;
  if (Status opened = Open(); !opened) return opened;
  const std::string path = PathOf(Format("{:08}{}", ++kept_, kEnding));
  auto file = spool_.files().Create(path, bytes);
  if (!file) return file.error();
  Status written = (*file)->Append(head);
  if (written) {
    const Result<bool> whole =
        EachPiece(trace, [&](std::string_view piece) { return (*file)->Append(piece); });
    if (!whole) written = whole.error();
    if (whole && !*whole) written = Unavailable("it cannot be read");
  }
  if (written) written = (*file)->Sync();
  if (written) written = spool_.files().SyncFolder(FolderOf(name_));
  if (!written) (void)spool_.files().Remove(path);
  return written;
}

std::vector<std::string> WaitingTraces::Files() const {
  std::vector<std::string> names;
  const auto entries =
      lock_ ? spool_.files().List(FolderOf(name_)) : Result<std::vector<FileEntry>>(NotFound(""));
  if (!entries) return names;
  for (const FileEntry& entry : *entries) {
    if (!entry.is_folder && entry.name.ends_with(kEnding)) names.push_back(entry.name);
  }
  return names;
}

Result<WaitingTrace> WaitingTraces::Read(const std::string& file) const {
  const std::string path = PathOf(file);
  const auto bytes = spool_.files().Read(path, 0, kMostHead);
  if (!bytes) return bytes.error();
  auto head = DecodeHead(*bytes);
  if (!head) return head.error();
  WaitingTrace trace = std::move(head->trace);
  trace.read = [&files = spool_.files(), path, begin = head->bytes](std::uint64_t at,
                                                                    std::span<char> into) {
    const auto got = files.Read(path, begin + at, into.size());
    return got ? got->copy(into.data(), into.size()) : std::size_t{0};
  };
  std::uint32_t crc = 0;
  const auto add = [&crc](std::string_view piece) {
    crc = Crc32c(piece, crc);
    return Status();
  };
  const Result<bool> whole = trace.bytes <= kMostFile ? EachPiece(trace, add) : false;
  char more = 0;
  if (!*whole || trace.read(trace.bytes, {&more, 1}) > 0) return Invalid("it is cut short");
  if (crc != trace.crc32c) return Invalid("it is damaged");
  return trace;
}

Result<WaitingTrace> WaitingTraces::ReadHead(const std::string& file) const {
  const auto bytes = spool_.files().Read(PathOf(file), 0, kMostHead);
  if (!bytes) return bytes.error();
  auto head = DecodeHead(*bytes);
  return head ? Result<WaitingTrace>(std::move(head->trace)) : head.error();
}

void WaitingTraces::Remove(const std::string& file) {
  (void)spool_.files().Remove(PathOf(file));
}

std::vector<std::unique_ptr<WaitingTraces>> AbandonedTraces(SpoolFolder& spool) {
  std::vector<std::unique_ptr<WaitingTraces>> abandoned;
  auto entries = spool.files().List(kTracesFolder);
  if (!entries) return abandoned;
  std::ranges::sort(*entries, {}, &FileEntry::changed_us);
  for (const FileEntry& entry : *entries) {
    if (!entry.is_folder) continue;
    auto lock = spool.files().Lock(FolderOf(entry.name));
    if (!lock) continue;  // its agent lives
    abandoned.push_back(std::make_unique<WaitingTraces>(spool, entry.name, std::move(*lock)));
  }
  return abandoned;
}

}  // namespace stepscope
