#pragma once

#include <cstdint>
#include <string_view>

#include "server/edge/http/progress.h"

namespace stepscope {

// Decodes a chunked body, strictly: a size is 1 to 8 hexadecimal digits and CR LF;
// extensions and trailers are refused. A size that would lead beyond `most_bytes` in all is refused
// before its data comes. Constant memory; the outcome does not depend on how bytes are cut.
class ChunkReader {
 public:
  explicit ChunkReader(std::uint64_t most_bytes) : most_bytes_(most_bytes) {}

  // Takes a beginning of `bytes`, up to and with the next data, and says how much; `data` is the
  // data in it, maybe empty. Call again with the rest while there is one and more is wanted.
  Progress Feed(std::string_view bytes, std::size_t& consumed, std::string_view& data);

  const Refusal& refusal() const { return refusal_; }  // after kFault

 private:
  enum class Part { kSize, kSizeEnd, kData, kDataCr, kDataLf, kLastCr, kLastLf };

  void Read(char byte);
  void ReadSize(char byte);
  void EndSize();
  void Expect(char wanted, char byte, Part next);
  void Refuse(std::string_view code, std::string detail);

  std::uint64_t most_bytes_;
  std::uint64_t total_bytes_ = 0;  // data announced so far
  std::uint64_t left_bytes_ = 0;   // what is left of the present chunk
  int digits_ = 0;
  Part part_ = Part::kSize;
  Progress progress_ = Progress::kMore;
  Refusal refusal_;
};

}  // namespace stepscope
