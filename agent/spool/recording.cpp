#include "agent/spool/recording.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "core/base/json.h"
#include "core/base/text.h"

namespace stepscope {
namespace {

constexpr std::size_t kMostFrames = 4'000'000;
constexpr std::size_t kMostSessions = 256;
constexpr std::size_t kMostDamage = 8;
constexpr std::size_t kPrefix = 4;

// False when the file ends before that.
bool ReadAt(int file, std::uint64_t offset, char* bytes, std::size_t size) {
  while (size > 0) {
    const ssize_t count = pread(file, bytes, size, static_cast<off_t>(offset));
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) return false;
    bytes += count;
    size -= static_cast<std::size_t>(count);
    offset += static_cast<std::uint64_t>(count);
  }
  return true;
}

// 0 at the end of the file.
std::uint32_t LengthAt(int file, std::uint64_t offset) {
  char prefix[kPrefix] = {};
  std::uint32_t length = 0;
  if (!ReadAt(file, offset, prefix, kPrefix)) return 0;
  for (std::size_t i = kPrefix; i-- > 0;) {
    length = length << 8 | static_cast<unsigned char>(prefix[i]);
  }
  return length;
}

std::uint64_t SizeOf(int file) {
  struct stat status {};
  return fstat(file, &status) == 0 ? static_cast<std::uint64_t>(status.st_size) : 0;
}

Result<Descriptor> OpenFile(const std::string& path) {
  Descriptor file(open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY));
  struct stat status {};
  if (!file || fstat(file.get(), &status) != 0) {
    return Invalid(Format("{}: {}", Printable(path), std::strerror(errno)));
  }
  if (!S_ISREG(status.st_mode)) return Invalid(Format("{}: not a file", Printable(path)));
  return file;
}

}  // namespace

std::uint64_t LastNumber(const Frame& frame) {
  const std::uint64_t first = frame.head.sequence;
  if (frame.head.kind != FrameKind::kLost) return first;
  const auto range = ParseJson(frame.payload);
  if (!range || !range->is_object()) return first;
  const auto last = range->find("last");
  const bool is_number = last != range->end() && last->is_number_unsigned();
  return is_number ? std::max(first, last->get<std::uint64_t>()) : first;
}

Result<std::unique_ptr<RecordingWriter>> RecordingWriter::Create(const std::string& path) {
  Descriptor file(open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600));
  if (file) return std::unique_ptr<RecordingWriter>(new RecordingWriter(std::move(file), path));
  if (errno == EEXIST) {
    return Conflict(Format("{}: exists already, and nothing is written over", Printable(path)));
  }
  return Invalid(Format("{}: {}", Printable(path), std::strerror(errno)));
}

Status RecordingWriter::Append(std::string_view push) {
  std::uint64_t at = size_;
  while (!push.empty()) {
    const ssize_t count = pwrite(file_.get(), push.data(), push.size(), static_cast<off_t>(at));
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) {
      const std::string why = std::strerror(errno);
      // A frame that is half written would be taken for damage.
      [[maybe_unused]] const int cut = ftruncate(file_.get(), static_cast<off_t>(size_));
      return Unavailable(Format("{}: {}", Printable(path_), why));
    }
    push.remove_prefix(static_cast<std::size_t>(count));
    at += static_cast<std::uint64_t>(count);
  }
  size_ = at;
  return {};
}

Result<Recording> Recording::Open(const std::vector<std::string>& paths) {
  Recording recording;
  for (const std::string& path : paths) {
    auto file = OpenFile(path);
    if (!file) return file.error();
    recording.files_.push_back(std::move(*file));
    const auto number = static_cast<std::uint32_t>(recording.files_.size() - 1);
    if (Status scanned = recording.Scan(path, number); !scanned) return scanned.error();
  }
  recording.CheckHoles();
  return recording;
}

void Recording::Note(std::string damage) {
  if (damage_.size() < kMostDamage) damage_.push_back(std::move(damage));
}

// Behind an impossible length no frame can be found any more.
Status Recording::Scan(const std::string& path, std::uint32_t file) {
  const int descriptor = files_[file].get();
  const std::string shown = Printable(path);
  const std::size_t before = frames_;
  const std::uint64_t end = SizeOf(descriptor);
  std::string bytes;
  for (std::uint64_t at = 0; at < end;) {
    const std::uint32_t size = LengthAt(descriptor, at);
    bytes.resize(std::min<std::size_t>(size, kMaxFrameBytes));
    if (size == 0 || size > kMaxFrameBytes ||
        !ReadAt(descriptor, at + kPrefix, bytes.data(), size)) {
      Note(Format("{}: no whole frame in its last {} bytes", shown, end - at));
      break;
    }
    const auto frame = DecodeFrame(bytes);
    if (frame) Take(*frame, {.offset = at + kPrefix, .size = size, .file = file});
    if (!frame) Note(Format("{}: frame at byte {}: {}", shown, at, frame.error().message));
    at += kPrefix + size;
    if (frames_ > kMostFrames || sessions_.size() > kMostSessions) {
      return Invalid(Format("{}: there are more than {} frames or {} sessions", shown, kMostFrames,
                            kMostSessions));
    }
  }
  if (frames_ == before) return Invalid(Format("{}: not a recording, or an empty one", shown));
  return {};
}

void Recording::Take(const Frame& frame, RecordedFrame place) {
  const FrameHead& head = frame.head;
  std::size_t at = sessions_.size();
  while (at > 0 && sessions_[at - 1].head.session != head.session) --at;
  if (at == 0) sessions_.push_back({head, {}});
  RecordedSession& session = at == 0 ? sessions_.back() : sessions_[at - 1];
  const bool same = session.head.job == head.job && session.head.node == head.node;
  const std::uint64_t before = session.frames.empty() ? 0 : session.frames.back().last;
  if (!same || head.sequence <= before) {
    return Note(Format("frame {} of job {} stands in the wrong place", head.sequence, head.job));
  }
  place.first = head.sequence;
  place.last = LastNumber(frame);
  place.created_us = ToMicros(head.created);
  session.frames.push_back(place);
  ++frames_;
}

void Recording::CheckHoles() {
  for (const RecordedSession& session : sessions_) {
    std::uint64_t wanted = 1;
    for (const RecordedFrame& frame : session.frames) {
      if (frame.first > wanted) {
        Note(Format("job {} of node {}: frames {} to {} are missing", session.head.job,
                    session.head.node, wanted, frame.first - 1));
      }
      wanted = frame.last + 1;
    }
  }
}

Result<Frame> Recording::Read(const RecordedFrame& frame) const {
  std::string bytes(frame.size, '\0');
  if (!ReadAt(files_[frame.file].get(), frame.offset, bytes.data(), bytes.size())) {
    return Invalid("the file was cut while it was read");
  }
  return DecodeFrame(bytes);
}

}  // namespace stepscope
