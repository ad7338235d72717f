// Columns and tables: any values survive the codec, and any bytes give values or an error within
// the allowed size.

#include "core/wire/column_codec.h"

#include <cstring>

#include "core/wire/table_codec.h"
#include "tests/fuzz/fuzz.h"

namespace stepscope {
namespace {

constexpr TableLimits kLimits{.rows = 700, .columns = 50, .cells = 5'000};

// The earlier content of a column that is reused.
const Column kUsed{.scale = 7, .values = {1, 2, 3}, .present = {1, 0, 1}};

bool Same(const Column& one, const Column& other, std::size_t rows) {
  if (one.scale != other.scale || one.values.size() != rows) return false;
  for (std::size_t row = 0; row < rows; ++row) {
    if (one.Has(row) != other.Has(row)) return false;
    if (one.Has(row) && one.values[row] != other.values[row]) return false;
  }
  return true;
}

void CheckSurvives(const Column& column, std::size_t rows) {
  std::string bytes;
  EncodeColumn(column, bytes);
  Column again = kUsed;
  const Status read = DecodeColumn(bytes, rows, again);
  Require(read.ok() && Same(again, column, rows), "any column survives");
}

// The bytes as values, eight each; the bits of the first byte choose which are missing.
void CheckValues(std::string_view bytes) {
  Column column;
  const auto gaps = static_cast<unsigned char>(bytes[0]);
  column.scale = gaps % 19;
  for (std::size_t at = 1; at + 8 <= bytes.size(); at += 8) {
    std::int64_t value = 0;
    std::memcpy(&value, bytes.data() + at, sizeof(value));
    const bool present = gaps < 128 || ((gaps >> (column.values.size() % 7)) & 1) != 0;
    column.values.push_back(present ? value : 0);
    if (gaps >= 128) column.present.push_back(present ? 1 : 0);
  }
  CheckSurvives(column, column.values.size());
}

void CheckColumn(std::string_view bytes) {
  const std::size_t rows = static_cast<unsigned char>(bytes[0]) * 3U;
  Column column = kUsed;
  const Status read = DecodeColumn(bytes.substr(1), rows, column);
  if (!read) return;
  Require(column.values.size() == rows, "a column has its rows");
  CheckSurvives(column, rows);
}

void CheckTable(std::string_view bytes) {
  const Result<Table> table = DecodeTable(bytes, kLimits);
  if (!table) return;
  Require(table->rows <= kLimits.rows && table->columns.size() <= kLimits.columns, "within limits");
  const Result<Table> again = DecodeTable(EncodeTable(*table), kLimits);
  Require(again.ok() && again->columns.size() == table->columns.size(), "a table reads again");
  for (std::size_t at = 0; at < table->columns.size(); ++at) {
    Require(Same(again->columns[at], table->columns[at], table->rows), "with the same columns");
  }
}

}  // namespace
}  // namespace stepscope

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace stepscope;
  if (size == 0) return 0;
  const std::string_view bytes = ToBytes(data, size);
  CheckValues(bytes);
  CheckColumn(bytes);
  CheckTable(bytes);
  return 0;
}
