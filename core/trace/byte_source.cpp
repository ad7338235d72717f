#include "core/trace/byte_source.h"

#include <zlib.h>
#include <zstd.h>

#include <algorithm>
#include <cstring>
#include <string_view>
#include <utility>

namespace stepscope {
namespace {

constexpr std::size_t kInputBytes = 256 * 1024;
constexpr std::string_view kGzip = "\x1f\x8b", kZstd = "\x28\xb5\x2f\xfd";
constexpr int kMostWindowLog = 26;  // of zstd: 64 MiB of memory

}  // namespace

struct ByteSource::Unpacker {
  explicit Unpacker(bool gzip) {
    if (!gzip) {
      zstd.reset(ZSTD_createDStream());
      ZSTD_DCtx_setParameter(zstd.get(), ZSTD_d_windowLogMax, kMostWindowLog);
      return;
    }
    constexpr int kGzipFormat = 15 + 16;
    if (inflateInit2(&zlib, kGzipFormat) == Z_OK) open = true;
  }
  ~Unpacker() {
    if (open) inflateEnd(&zlib);
  }
  Unpacker(const Unpacker&) = delete;
  Unpacker& operator=(const Unpacker&) = delete;

  struct FreeZstd {
    void operator()(ZSTD_DStream* stream) const { ZSTD_freeDStream(stream); }
  };
  struct Step {
    std::size_t taken = 0, given = 0;
    bool ended = false, failed = false;  // a member or frame is complete; the bytes are damaged
  };
  Step Unpack(std::string_view in, std::span<char> out) {
    return zstd ? UnpackZstd(in, out) : UnpackGzip(in, out);
  }
  Step UnpackGzip(std::string_view in, std::span<char> out) {
    if (!open) return {.failed = true};
    zlib.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(in.data()));
    zlib.avail_in = static_cast<uInt>(in.size());
    zlib.next_out = reinterpret_cast<Bytef*>(out.data());
    zlib.avail_out = static_cast<uInt>(out.size());
    const int outcome = inflate(&zlib, Z_NO_FLUSH);
    Step step{in.size() - zlib.avail_in, out.size() - zlib.avail_out, outcome == Z_STREAM_END,
              outcome != Z_OK && outcome != Z_STREAM_END && outcome != Z_BUF_ERROR};
    if (step.ended) inflateReset(&zlib);
    return step;
  }
  Step UnpackZstd(std::string_view in, std::span<char> out) const {
    ZSTD_inBuffer from{in.data(), in.size(), 0};
    ZSTD_outBuffer to{out.data(), out.size(), 0};
    const std::size_t left = ZSTD_decompressStream(zstd.get(), &to, &from);
    return {from.pos, to.pos, left == 0, ZSTD_isError(left) != 0};
  }

  z_stream zlib{};
  bool open = false;
  std::unique_ptr<ZSTD_DStream, FreeZstd> zstd;
  bool pending = false;  // it may have more to give without further input
  bool between = false;  // the last member is complete, and no further one has begun
};

ByteSource::ByteSource(ReadBytes read, std::uint64_t most)
    : read_(std::move(read)),
      buffer_(std::make_unique_for_overwrite<char[]>(kInputBytes)),
      left_(most) {}

ByteSource::~ByteSource() = default;

bool ByteSource::Fill() {
  if (ended_) return false;
  if (begin_ > 0) {
    std::memmove(buffer_.get(), buffer_.get() + begin_, end_ - begin_);
    end_ -= begin_, begin_ = 0;
  }
  const std::size_t got = read_({buffer_.get() + end_, kInputBytes - end_});
  if (got == 0) ended_ = true;
  end_ += got, taken_bytes_ += got;
  return got > 0;
}

std::string_view ByteSource::Peek(std::size_t most) {
  while (ahead_.size() < most) {
    const std::size_t before = ahead_.size();
    ahead_.resize(most);
    const std::size_t got = ReadOn(std::span(ahead_).subspan(before));
    ahead_.resize(before + got);
    if (got == 0) break;
  }
  return ahead_;
}

std::size_t ByteSource::Read(std::span<char> into) {
  if (ahead_.empty()) return ReadOn(into);
  const std::size_t size = std::min(into.size(), ahead_.size());
  std::memcpy(into.data(), ahead_.data(), size);
  ahead_.erase(0, size);
  return size;
}

std::size_t ByteSource::ReadOn(std::span<char> into) {
  if (left_ == 0) return 0;
  const std::size_t got = ReadMore(into);
  if (got <= left_) {
    left_ -= got;
    return got;
  }
  fault_ = "bytes_beyond_limit";
  return static_cast<std::size_t>(std::exchange(left_, 0));
}

std::size_t ByteSource::ReadMore(std::span<char> into) {
  if (!known_) {
    while (end_ < kZstd.size() && Fill()) continue;
    const std::string_view head(buffer_.get(), end_);
    const bool gzip = head.starts_with(kGzip);
    if (gzip || head.starts_with(kZstd)) unpacker_ = std::make_unique<Unpacker>(gzip);
    known_ = true;
  }
  if (unpacker_) return ReadPacked(into);
  if (begin_ == end_) {
    const std::size_t got = read_(into);
    taken_bytes_ += got;
    return got;
  }
  const std::size_t size = std::min(into.size(), end_ - begin_);
  std::memcpy(into.data(), buffer_.get() + begin_, size);
  begin_ += size;
  return size;
}

// Bytes behind the last member that are no further one end the reading without a fault: tools pad.
std::size_t ByteSource::ReadPacked(std::span<char> into) {
  while (fault_.empty()) {
    if (begin_ == end_ && !unpacker_->pending && !Fill()) {
      if (!unpacker_->between) fault_ = "truncated";
      return 0;
    }
    const auto step = unpacker_->Unpack({buffer_.get() + begin_, end_ - begin_}, into);
    begin_ += step.taken;
    unpacker_->pending = step.given == into.size();
    if (step.failed) {
      if (!unpacker_->between) fault_ = "damaged";
      begin_ = end_, ended_ = true;
      return step.given;
    }
    if (step.taken > 0 || step.given > 0) unpacker_->between = step.ended;
    if (step.given > 0) return step.given;
    if (step.taken == 0 && begin_ < end_ && !step.ended) {
      fault_ = "damaged";
      return 0;
    }
  }
  return 0;
}

}  // namespace stepscope
