// The outcome must not depend on how the bytes were cut. zlib gives all output that its input
// allows, so the output behind each byte is the same for every cut; the ratio is therefore looked
// at only behind whole steps of the input, and at the end.

#include "server/edge/http/inflate.h"

#include <zlib.h>

#include <algorithm>
#include <array>

#include "core/base/text.h"
#include "server/edge/http/growth.h"

namespace stepscope {
namespace {

constexpr std::size_t kStepBytes = 1024;        // input; it unpacks to at most 1 MiB
constexpr std::size_t kPieceBytes = 16 * 1024;  // output

}  // namespace

void Inflater::End::operator()(z_stream_s* stream) const {
  inflateEnd(stream);
  delete stream;
}

Inflater::Inflater(InflateLimits limits) : limits_(limits) {
  constexpr int kGzipFormat = 15 + 16;
  auto stream = std::make_unique<z_stream>();
  if (inflateInit2(stream.get(), kGzipFormat) == Z_OK) {
    stream_.reset(stream.release());
  } else {
    Refuse("unavailable", "there is no memory to unpack the body");
  }
}

Inflater::~Inflater() = default;
Inflater::Inflater(Inflater&&) noexcept = default;
Inflater& Inflater::operator=(Inflater&&) noexcept = default;

Progress Inflater::Feed(std::string_view bytes, std::string& to) {
  while (progress_ == Progress::kMore && !bytes.empty()) {
    const std::size_t step = kStepBytes - packed_bytes_ % kStepBytes;
    const std::string_view taken = bytes.substr(0, step);
    bytes.remove_prefix(taken.size());
    packed_bytes_ += taken.size();
    Unpack(taken, to);
    if (progress_ == Progress::kMore && taken.size() == step) CheckRatio();
  }
  if (progress_ == Progress::kDone && !bytes.empty()) {
    Refuse("bad-request", "bytes follow the gzip data of the body");
  }
  return progress_;
}

void Inflater::Unpack(std::string_view bytes, std::string& to) {
  stream_->next_in = reinterpret_cast<Bytef*>(const_cast<char*>(bytes.data()));
  stream_->avail_in = static_cast<uInt>(bytes.size());
  int outcome = Z_OK;
  while (progress_ == Progress::kMore && outcome == Z_OK) outcome = UnpackSome(to);
  if (progress_ == Progress::kFault || outcome == Z_BUF_ERROR) return;
  if (outcome != Z_STREAM_END) return Refuse("bad-request", "the body is not valid gzip data");
  packed_bytes_ -= stream_->avail_in;
  CheckRatio();
  if (progress_ == Progress::kFault) return;
  progress_ = Progress::kDone;
  if (stream_->avail_in > 0) Refuse("bad-request", "bytes follow the gzip data of the body");
}

// Z_BUF_ERROR means that the input is used up and all its output given.
int Inflater::UnpackSome(std::string& to) {
  std::array<char, kPieceBytes> piece;
  const std::uint64_t room = limits_.most_bytes - plain_bytes_ + 1;
  const std::size_t wanted = std::min<std::uint64_t>(piece.size(), room);
  stream_->next_out = reinterpret_cast<Bytef*>(piece.data());
  stream_->avail_out = static_cast<uInt>(wanted);
  const int outcome = inflate(stream_.get(), Z_NO_FLUSH);
  const std::size_t count = wanted - stream_->avail_out;
  plain_bytes_ += count;
  if (plain_bytes_ > limits_.most_bytes) {
    Refuse("too-large", Format("the body unpacks to more than {} bytes", limits_.most_bytes));
  } else {
    AppendWithin({piece.data(), count}, limits_.most_bytes, to);
  }
  return outcome;
}

void Inflater::CheckRatio() {
  if (plain_bytes_ <= limits_.most_ratio * packed_bytes_ + limits_.free_bytes) return;
  Refuse("too-large",
         Format("the body unpacks to more than {} times its size", limits_.most_ratio));
}

void Inflater::Refuse(std::string_view code, std::string detail) {
  refusal_ = {code, std::move(detail)};
  progress_ = Progress::kFault;
}

}  // namespace stepscope
