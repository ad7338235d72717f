#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "core/base/result.h"
#include "core/model/table.h"
#include "core/wire/bytes.h"
#include "core/wire/compress.h"

namespace stepscope {

// Encodes columns one by one: the smaller of frame of reference and deltas, divided by the greatest
// common divisor, in byte planes (all lowest bytes, then all second bytes, ...), which zstd then
// finds easy. Any int64 values survive. Its buffers are reused from column to column.
class ColumnEncoder {
 public:
  void Encode(const Column& column, std::string& bytes, int level = kCompressionLevel);

 private:
  void Take(const Column& column);

  std::vector<std::uint64_t> numbers_, deltas_;  // quotients of the present values
  std::string planes_, smaller_;
};

void EncodeColumn(const Column& column, std::string& bytes, int level = kCompressionLevel);

// `rows` is known and bounded by the caller; nothing larger than it is allocated. Replaces the
// content of `column`, whose memory is reused; after an error it must not be read.
Status DecodeColumn(std::string_view bytes, std::size_t rows, Column& column);

}  // namespace stepscope
