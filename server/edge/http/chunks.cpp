#include "server/edge/http/chunks.h"

#include <algorithm>

#include "core/base/text.h"

namespace stepscope {
namespace {

// The value of a hexadecimal digit, or -1.
int Digit(char byte) {
  if (byte >= '0' && byte <= '9') return byte - '0';
  const char lower = static_cast<char>(byte | 0x20);
  return lower >= 'a' && lower <= 'f' ? lower - 'a' + 10 : -1;
}

}  // namespace

Progress ChunkReader::Feed(std::string_view bytes, std::size_t& consumed, std::string_view& data) {
  consumed = 0;
  data = {};
  while (progress_ == Progress::kMore && part_ != Part::kData && consumed < bytes.size()) {
    Read(bytes[consumed++]);
  }
  if (progress_ != Progress::kMore || part_ != Part::kData) return progress_;
  data = bytes.substr(consumed, left_bytes_);
  consumed += data.size();
  left_bytes_ -= data.size();
  if (left_bytes_ == 0) part_ = Part::kDataCr;
  return progress_;
}

void ChunkReader::Read(char byte) {
  switch (part_) {
    case Part::kSize:
      return ReadSize(byte);
    case Part::kSizeEnd:
      Expect('\n', byte, Part::kData);
      if (progress_ == Progress::kMore) EndSize();
      return;
    case Part::kData:
      return;
    case Part::kDataCr:
      return Expect('\r', byte, Part::kDataLf);
    case Part::kDataLf:
      return Expect('\n', byte, Part::kSize);
    case Part::kLastCr:
      if (byte != '\r') return Refuse("bad-request", "trailers behind a chunked body");
      part_ = Part::kLastLf;
      return;
    case Part::kLastLf:
      Expect('\n', byte, Part::kLastLf);
      if (progress_ == Progress::kMore) progress_ = Progress::kDone;
      return;
  }
}

void ChunkReader::ReadSize(char byte) {
  constexpr int kMostDigits = 8;
  const int digit = Digit(byte);
  if (digit >= 0 && digits_ < kMostDigits) {
    left_bytes_ = left_bytes_ * 16 + static_cast<std::uint64_t>(digit);
    ++digits_;
  } else if (byte == '\r' && digits_ > 0) {
    part_ = Part::kSizeEnd;
  } else {
    Refuse("bad-request", byte == ';' ? "a chunk has an extension"
                                      : "the size of a chunk is not 1 to 8 hexadecimal digits");
  }
}

void ChunkReader::EndSize() {
  digits_ = 0;
  if (left_bytes_ == 0) part_ = Part::kLastCr;
  total_bytes_ += left_bytes_;
  if (total_bytes_ > most_bytes_) {
    Refuse("too-large", Format("the body has more than {} bytes", most_bytes_));
  }
}

void ChunkReader::Expect(char wanted, char byte, Part next) {
  if (byte != wanted) return Refuse("bad-request", "a chunk does not end with CR LF");
  part_ = next;
}

void ChunkReader::Refuse(std::string_view code, std::string detail) {
  refusal_ = {code, std::move(detail)};
  progress_ = Progress::kFault;
}

}  // namespace stepscope
