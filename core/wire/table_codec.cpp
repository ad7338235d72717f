#include "core/wire/table_codec.h"

#include <utility>

#include "core/base/text.h"
#include "core/wire/bytes.h"
#include "core/wire/column_codec.h"
#include "core/wire/compress.h"
#include "core/wire/table_writer.h"

namespace stepscope {
namespace {

constexpr std::uint8_t kTableVersion = 1;
// Tables of up to so many rows are compressed as a whole: their columns are too small for zstd one
// by one, and decoding all of them to read one costs little. A longer table in this form is
// refused, because a few bytes could then claim tens of megabytes.
constexpr std::size_t kShortRows = 64;
enum Packing : std::uint8_t { kPlain = 0, kTogether = 1 };

struct TableHead {
  std::uint8_t packing = kPlain;
  TableSize size;
};

Result<TableHead> ReadHead(ByteReader& reader) {
  const auto version = reader.Take<std::uint8_t>();
  const auto packing = reader.Take<std::uint8_t>();
  const std::uint64_t rows = reader.TakeVarint();
  const std::uint64_t columns = reader.TakeVarint();
  if (!reader.ok()) return Invalid("table: cut short");
  if (version != kTableVersion) return Invalid(Format("table: version {} is not known", version));
  if (packing > kTogether) return Invalid("table: a packing that is not known");
  return TableHead{packing, {rows, columns}};
}

}  // namespace

Result<TableSize> ReadTableSize(std::string_view bytes) {
  ByteReader reader(bytes);
  const Result<TableHead> head = ReadHead(reader);
  if (!head) return head.error();
  return head->size;
}

std::string EncodeTable(const Table& table) {
  return EncodeColumns(table.rows, table.columns.size(),
                       [&](std::size_t i) -> const Column& { return table.columns[i]; });
}

std::string EncodeColumns(std::size_t rows, std::size_t columns, const ColumnAt& column_at) {
  ColumnEncoder encoder;
  std::string directory, bodies;
  for (std::size_t i = 0; i < columns; ++i) {
    const Column& column = column_at(i);
    assert(column.values.size() == rows);
    const std::size_t before = bodies.size();
    encoder.Encode(column, bodies);
    PutVarint(directory, bodies.size() - before);
  }
  std::string bytes;
  Put(bytes, kTableVersion);
  const std::string inner = directory + bodies;
  const std::string smaller = rows <= kShortRows ? Compress(inner) : std::string();
  const bool together = rows <= kShortRows && smaller.size() + 4 < inner.size();
  Put<std::uint8_t>(bytes, together ? kTogether : kPlain);
  PutVarint(bytes, rows);
  PutVarint(bytes, columns);
  if (together) PutVarint(bytes, inner.size());
  return bytes + (together ? smaller : inner);
}

Result<TableReader> TableReader::Open(std::string_view bytes, const TableLimits& limits) {
  ByteReader reader(bytes);
  const Result<TableHead> head = ReadHead(reader);
  if (!head) return head.error();
  const auto [rows, columns] = head->size;
  if (rows > limits.rows || columns > limits.columns || rows * columns > limits.cells) {
    return Invalid(Format("table: {} rows and {} columns are more than allowed", rows, columns));
  }
  TableReader table;
  table.rows_ = static_cast<std::size_t>(rows);
  if (head->packing == kTogether) {
    const std::uint64_t size = reader.TakeVarint();
    // Upper bound: 40 bytes for a column's head, and a value takes 8 bytes and a bit.
    if (!reader.ok() || rows > kShortRows || size > columns * (40 + rows * 9)) {
      return Invalid("table: a size that cannot be");
    }
    Result<std::string> inner = Decompress(reader.rest(), static_cast<std::size_t>(size));
    if (!inner.ok()) return inner.error();
    table.inner_ = std::move(*inner);
  } else {
    table.inner_ = std::string(reader.rest());
  }
  if (!table.ReadDirectory(static_cast<std::size_t>(columns))) {
    return Invalid("table: a directory that does not fit");
  }
  return table;
}

bool TableReader::ReadDirectory(std::size_t columns) {
  if (columns > inner_.size()) return false;
  ByteReader directory(inner_);
  bodies_.resize(columns);
  for (Place& body : bodies_) body.length = directory.TakeVarint();
  if (!directory.ok()) return false;
  std::size_t offset = inner_.size() - directory.left();
  for (Place& body : bodies_) {
    if (body.length > inner_.size() - offset) return false;
    body.offset = std::exchange(offset, offset + body.length);
  }
  return offset == inner_.size();
}

Status TableReader::Read(std::size_t column, Column& into) const {
  assert(column < bodies_.size());
  const Place& place = bodies_[column];
  return DecodeColumn(std::string_view(inner_).substr(place.offset, place.length), rows_, into);
}

Result<Column> TableReader::Read(std::size_t column) const {
  Column into;
  const Status read = Read(column, into);
  if (!read) return read.error();
  return into;
}

Result<Table> DecodeTable(std::string_view bytes, const TableLimits& limits) {
  Result<TableReader> reader = TableReader::Open(bytes, limits);
  if (!reader.ok()) return reader.error();
  Table table{reader->rows(), std::vector<Column>(reader->columns())};
  for (std::size_t i = 0; i < reader->columns(); ++i) {
    const Status read = reader->Read(i, table.columns[i]);
    if (!read) return read.error();
  }
  return table;
}

}  // namespace stepscope
