#include "agent/marks/marks_ring.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <cstring>
#include <utility>

#include "core/base/text.h"

namespace stepscope {
namespace {

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
  return {};
}

Result<RingHead> ReadHead(int fd) {
  std::array<std::uint64_t, 3> words{};
  if (pread(fd, words.data(), sizeof(words), 0) != sizeof(words)) {
    return Invalid("ring: shorter than its header");
  }
  return DecodeRingHead(words);
}

}  // namespace

Result<MarkRingReader> MarkRingReader::Map(const Descriptor& memory) {
  if (Status sealed = CheckSealed(memory.get()); !sealed) return sealed.error();
  const Result<RingHead> head = ReadHead(memory.get());
  if (!head) return head.error();
  struct stat file {};
  const std::size_t bytes = RingBytes(head->slots);
  if (fstat(memory.get(), &file) != 0 || static_cast<std::size_t>(file.st_size) < bytes) {
    return Invalid(Format("ring: {} bytes, its header claims {}", file.st_size, bytes));
  }
  void* start = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, memory.get(), 0);
  if (start == MAP_FAILED) return Invalid(Format("ring: cannot be mapped: {}", strerror(errno)));
  return MarkRingReader(static_cast<std::uint64_t*>(start), *head);
}

MarkRingReader::MarkRingReader(std::uint64_t* words, RingHead head) : words_(words), head_(head) {
  const std::uint64_t read = Load(words_[kRingReadWord]);
  const std::uint64_t written = Load(words_[kRingWriteWord], std::memory_order_acquire);
  continued_ = read != 0;
  next_ = written - read <= head_.slots ? read : written;
}

MarkRingReader::MarkRingReader(MarkRingReader&& other) noexcept
    : words_(std::exchange(other.words_, nullptr)),
      head_(other.head_),
      next_(other.next_),
      overrun_(other.overrun_),
      continued_(other.continued_) {}

MarkRingReader::~MarkRingReader() {
  if (words_ != nullptr) munmap(words_, RingBytes(head_.slots));
}

MarkSlot MarkRingReader::CopySlot(std::uint64_t position) const {
  const std::uint64_t slot = position & (head_.slots - 1);
  const std::uint64_t* from = words_ + (kRingHeaderBytes + slot * kRingSlotBytes) / 8;
  return {Load(from[0]), Load(from[1]), Load(from[2]), Load(from[3])};
}

void MarkRingReader::Read(const std::function<void(const Mark&)>& take) {
  const std::uint64_t written = Load(words_[kRingWriteWord], std::memory_order_acquire);
  if (written - next_ > head_.slots) {
    // Only a faulty writer gets here; reading goes on from its position.
    overrun_ += 1;
    next_ = written;
  }
  for (; next_ != written; ++next_) take(DecodeMark(CopySlot(next_)));
  std::atomic_ref(words_[kRingReadWord]).store(next_, std::memory_order_release);
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
