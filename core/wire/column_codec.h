#pragma once

#include <cstddef>
#include <string>

#include "core/base/result.h"
#include "core/model/table.h"
#include "core/wire/bytes.h"
#include "core/wire/compress.h"

namespace stepscope {

// One column by itself: the smaller of frame of reference and deltas, divided by the greatest
// common divisor, in byte planes (all lowest bytes, then all second bytes, ...), which zstd then
// finds easy. Any int64 values survive.
void EncodeColumn(const Column& column, std::string& bytes, int level = kCompressionLevel);

// `rows` is known and bounded by the caller; nothing larger than it is allocated.
Result<Column> DecodeColumn(std::string_view bytes, std::size_t rows);

}  // namespace stepscope
