#include "agent/marks/marks_ring.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <cstring>
#include <utility>

#include "core/base/text.h"

namespace stepscope {
namespace {

constexpr std::int64_t kTmpfs = 0x01021994;  // TMPFS_MAGIC
constexpr std::size_t kSlotsAtOnce = 128;

// The other end is another process, so every access is atomic.
std::uint64_t Load(const std::uint64_t& word, std::memory_order order = std::memory_order_relaxed) {
  return std::atomic_ref(const_cast<std::uint64_t&>(word)).load(order);
}

// Without the seal the process could shrink the file, and the next touch would be a SIGBUS.
Status CheckSealed(int fd) {
  const int seals = fcntl(fd, F_GET_SEALS);
  if (seals < 0) return Invalid("ring: the descriptor is no memfd");
  if ((seals & F_SEAL_SHRINK) == 0)
    return Invalid("ring: the memfd is not sealed against shrinking");
  struct statfs system {};
  if (fstatfs(fd, &system) != 0) return Invalid("ring: the memfd has no file system");
  return CheckRingMemory(system.f_type, system.f_bsize);
}

Result<RingHead> ReadHead(int fd) {
  std::array<std::uint64_t, 3> words{};
  if (pread(fd, words.data(), sizeof(words), 0) != sizeof(words)) {
    return Invalid("ring: shorter than its header");
  }
  return DecodeRingHead(words);
}

}  // namespace

Status CheckRingMemory(std::int64_t kind, std::int64_t block_bytes) {
  if (kind != kTmpfs || block_bytes != sysconf(_SC_PAGESIZE)) {
    return Invalid("ring: the memfd is not made of ordinary pages");
  }
  return {};
}

Result<MarkRingReader> MarkRingReader::Map(Descriptor& memory) {
  if (Status sealed = CheckSealed(memory.get()); !sealed) return sealed.error();
  const Result<RingHead> head = ReadHead(memory.get());
  if (!head) return head.error();
  struct stat file {};
  const std::size_t bytes = RingBytes(head->slots);
  if (fstat(memory.get(), &file) != 0 || static_cast<std::size_t>(file.st_size) < bytes) {
    return Invalid(Format("ring: {} bytes, its header claims {}", file.st_size, bytes));
  }
  void* start =
      mmap(nullptr, kRingHeaderBytes, PROT_READ | PROT_WRITE, MAP_SHARED, memory.get(), 0);
  if (start == MAP_FAILED) return Invalid(Format("ring: cannot be mapped: {}", strerror(errno)));
  return MarkRingReader(static_cast<std::uint64_t*>(start), *head, std::move(memory));
}

MarkRingReader::MarkRingReader(std::uint64_t* words, RingHead head, Descriptor memory)
    : memory_(std::move(memory)), words_(words), head_(head) {
  const std::uint64_t read = Load(words_[kRingReadWord]);
  const std::uint64_t written = Load(words_[kRingWriteWord], std::memory_order_acquire);
  continued_ = read != 0;
  next_ = written - read <= head_.slots ? read : written;
}

MarkRingReader::MarkRingReader(MarkRingReader&& other) noexcept
    : memory_(std::move(other.memory_)),
      words_(std::exchange(other.words_, nullptr)),
      head_(other.head_),
      next_(other.next_),
      overrun_(other.overrun_),
      continued_(other.continued_) {}

MarkRingReader::~MarkRingReader() {
  if (words_ != nullptr) munmap(words_, kRingHeaderBytes);
}

std::uint64_t MarkRingReader::Waiting() {
  const std::uint64_t written = Load(words_[kRingWriteWord], std::memory_order_acquire);
  if (written - next_ > head_.slots) {
    // Only a faulty writer gets here; reading goes on from its position.
    overrun_ += 1;
    next_ = written;
  }
  return written - next_;
}

void MarkRingReader::GiveBack() {
  std::atomic_ref(words_[kRingReadWord]).store(next_, std::memory_order_release);
}

std::size_t MarkRingReader::Read(const std::function<void(const Mark&)>& take, std::size_t most) {
  std::array<MarkSlot, kSlotsAtOnce> slots;
  const std::size_t all = std::min<std::size_t>(Waiting(), most);
  for (std::size_t read = 0; read < all;) {
    const std::size_t first = next_ & (head_.slots - 1);
    const std::size_t count = std::min({all - read, slots.size(), head_.slots - first});
    const auto bytes = count * kRingSlotBytes;
    const auto place = static_cast<off_t>(kRingHeaderBytes + first * kRingSlotBytes);
    const bool there =
        pread(memory_.get(), slots.data(), bytes, place) == static_cast<ssize_t>(bytes);
    if (!there) overrun_ += count;  // the file is as long as that, so only a fault gets here
    for (std::size_t i = 0; there && i < count; ++i) take(DecodeMark(slots[i]));
    next_ += count;
    read += count;
  }
  GiveBack();
  return all;
}

void MarkRingReader::Skip() {
  const std::uint64_t waiting = Waiting();
  overrun_ += waiting;
  next_ += waiting;
  GiveBack();
}

void MarkRingReader::Call() {
  std::atomic_ref(words_[kRingControlWord]).fetch_add(1, std::memory_order_release);
}

Duration MarkRingReader::clock_base() const {
  return Duration(static_cast<std::int64_t>(Load(words_[kRingClockWord])));
}

std::uint64_t MarkRingReader::dropped() const {
  // Bounds a false count, so that it can be added up.
  constexpr std::uint64_t kMost = std::uint64_t{1} << 40;
  return std::min(Load(words_[kRingDroppedWord]), kMost) + overrun_;
}

}  // namespace stepscope
