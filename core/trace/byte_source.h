#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>

#include "core/base/result.h"

namespace stepscope {

// Bytes of a file or a body, piece by piece: fills a part of the buffer and says how much; 0 at the
// end.
using ReadBytes = std::function<std::size_t(std::span<char>)>;

// Unpacks gzip and zstd, several members or frames in a row included, and passes on what is
// neither. Memory is bounded whatever the input declares. A packed stream that breaks off gives
// what it had until there; `fault` then says why in one word.
class ByteSource {
 public:
  // Gives at most so many bytes; where there are more, `fault` is "bytes_beyond_limit".
  explicit ByteSource(ReadBytes read, std::uint64_t most = UINT64_MAX);
  ~ByteSource();
  ByteSource(const ByteSource&) = delete;
  ByteSource& operator=(const ByteSource&) = delete;

  std::size_t Read(std::span<char> into);  // 0 at the end
  // The first bytes, unpacked, as far as there are so many; Read gives them again.
  std::string_view Peek(std::size_t most);
  const std::string& fault() const {
    return fault_;
  }  // "truncated", "damaged"; "" while all is well
  std::uint64_t taken_bytes() const { return taken_bytes_; }  // packed, as they came

 private:
  struct Unpacker;
  bool Fill();
  std::size_t ReadOn(std::span<char> into);
  std::size_t ReadMore(std::span<char> into);
  std::size_t ReadPacked(std::span<char> into);

  ReadBytes read_;
  std::unique_ptr<char[]> buffer_;
  std::size_t begin_ = 0, end_ = 0;  // what is left in the buffer
  std::unique_ptr<Unpacker> unpacker_;
  std::string ahead_;   // was peeked at, and not read yet
  bool known_ = false;  // the format was found out
  bool ended_ = false;  // the input has nothing more
  std::string fault_;
  std::uint64_t taken_bytes_ = 0;
  std::uint64_t left_;  // what it may still give
};

}  // namespace stepscope
