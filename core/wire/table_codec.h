#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/result.h"
#include "core/model/table.h"

namespace stepscope {

struct TableLimits {
  std::size_t rows = 16'384;
  std::size_t columns = 20'001;
  std::size_t cells = 4 * 1024 * 1024;  // rows x columns
};

// The one codec for tables, on the wire and at rest. Each column is stored by itself as frame of
// reference or deltas, divided by the greatest common divisor, in byte planes; small tables are
// compressed by zstd as a whole, large columns one by one. See docs/wire.md for the layout.
std::string EncodeTable(const Table& table);

// Reads an encoded table column by column. Declared sizes are checked before anything is allocated;
// hostile bytes give an Invalid error. Holds no reference to `bytes` after Open. Several threads
// may read at once.
class TableReader {
 public:
  static Result<TableReader> Open(std::string_view bytes, const TableLimits& limits = {});

  std::size_t rows() const { return rows_; }
  std::size_t columns() const { return bodies_.size(); }
  std::size_t bytes() const { return inner_.size() + bodies_.size() * sizeof(Place); }  // in memory
  Result<Column> Read(std::size_t column) const;
  // Reads into a column that is reused, for callers that read many.
  Status Read(std::size_t column, Column& into) const;

 private:
  struct Place {
    std::size_t offset, length;
  };
  bool ReadDirectory(std::size_t columns);

  std::size_t rows_ = 0;
  std::string inner_;  // directory and bodies, after the outer decompression
  std::vector<Place> bodies_;
};

// The size that a table declares in its first bytes, not checked against any limits.
struct TableSize {
  std::uint64_t rows = 0, columns = 0;
};
inline constexpr std::size_t kTableHeadBytes = 22;
Result<TableSize> ReadTableSize(std::string_view bytes);

// Decodes all columns.
Result<Table> DecodeTable(std::string_view bytes, const TableLimits& limits = {});

}  // namespace stepscope
