#include "core/wire/table_codec.h"

#include <gtest/gtest.h>

#include <limits>
#include <random>
#include <string>

#include "core/wire/bytes.h"
#include "core/wire/compress.h"

namespace stepscope {
namespace {

constexpr std::int64_t kMin = std::numeric_limits<std::int64_t>::min();
constexpr std::int64_t kMax = std::numeric_limits<std::int64_t>::max();

void ExpectSame(const Table& table) {
  const Result<Table> again = DecodeTable(EncodeTable(table));
  ASSERT_TRUE(again.ok()) << again.error().message;
  ASSERT_EQ(again->rows, table.rows);
  ASSERT_EQ(again->columns.size(), table.columns.size());
  for (std::size_t i = 0; i < table.columns.size(); ++i) {
    EXPECT_EQ(again->columns[i].scale, table.columns[i].scale);
    for (std::size_t row = 0; row < table.rows; ++row) {
      ASSERT_EQ(again->columns[i].Has(row), table.columns[i].Has(row));
      if (table.columns[i].Has(row)) {
        ASSERT_EQ(again->columns[i].values[row], table.columns[i].values[row]);
      }
    }
  }
}

Table Single(std::vector<std::int64_t> values, std::vector<std::uint8_t> present = {}) {
  const std::size_t rows = values.size();
  return {rows, {{.scale = 2, .values = std::move(values), .present = std::move(present)}}};
}

TEST(TableCodec, KeepsTheEndsOfInt64) {
  ExpectSame(Single({kMin, kMax, 0, -1, 1, kMax, kMin}));
  ExpectSame(Single({kMax}));
  ExpectSame(Single({kMin, kMin}));
}

TEST(TableCodec, KeepsWhatIsMissingMissing) {
  ExpectSame(Single({0, 5, 0}, {0, 1, 0}));
  ExpectSame(Single({0, 0, 0}, {0, 0, 0}));
  ExpectSame(Single({0, 0, 0}));
}

TEST(TableCodec, KeepsEmptyTables) {
  ExpectSame({});
  ExpectSame({0, {{.scale = 0, .values = {}, .present = {}}}});
}

// Values of every shape: constant, stepped, random walk, any bits, multiples, with holes.
Column AnyColumn(std::mt19937_64& random, std::size_t rows) {
  Column column{.scale = static_cast<std::uint8_t>(random() % 19), .values = {}, .present = {}};
  const auto shape = random() % 5;
  auto value = static_cast<std::int64_t>(random());
  const auto stride = static_cast<std::uint64_t>(random() % 4096 + 1);
  for (std::size_t row = 0; row < rows; ++row) {
    if (shape == 1) value = static_cast<std::int64_t>(static_cast<std::uint64_t>(value) + stride);
    if (shape == 2)
      value = static_cast<std::int64_t>(static_cast<std::uint64_t>(value) + random() % 7);
    if (shape == 3) value = static_cast<std::int64_t>(random());
    if (shape == 4) value = static_cast<std::int64_t>(random() % 100 * stride);
    column.values.push_back(value);
  }
  if (random() % 3 == 0) {
    for (std::size_t row = 0; row < rows; ++row) column.present.push_back(random() % 4 != 0);
  }
  return column;
}

TEST(TableCodec, GivesBackAnyTable) {
  std::mt19937_64 random(20261120);
  for (int round = 0; round < 400; ++round) {
    Table table{random() % 300, {}};
    for (auto columns = random() % 12; columns > 0; --columns) {
      table.columns.push_back(AnyColumn(random, table.rows));
    }
    ExpectSame(table);
  }
}

TEST(TableCodec, ReadsOneColumnByItself) {
  const Table table{2,
                    {{.scale = 0, .values = {1, 2}, .present = {}},
                     {.scale = 0, .values = {30, 40}, .present = {}}}};
  const Result<TableReader> reader = TableReader::Open(EncodeTable(table));
  ASSERT_TRUE(reader.ok());
  EXPECT_EQ(reader->Read(1)->values, (std::vector<std::int64_t>{30, 40}));
}

TEST(TableCodec, ReadsIntoAColumnThatWasUsed) {
  const Column columns[] = {{.scale = 2, .values = {1, 0, 3}, .present = {1, 0, 1}},
                            {.scale = 0, .values = {7, 7, 7}, .present = {}},
                            {.scale = 0, .values = {0, 0, 0}, .present = {0, 0, 0}},
                            {.scale = 1, .values = {9, -5, 9}, .present = {}}};
  const std::string bytes = EncodeTable({3, {std::begin(columns), std::end(columns)}});
  const Result<TableReader> reader = TableReader::Open(bytes);
  ASSERT_TRUE(reader.ok());
  Column used{.scale = 5, .values = {4, 4, 4, 4, 4}, .present = {1, 1, 1, 1, 1}};
  for (std::size_t i = 0; i < std::size(columns); ++i) {
    ASSERT_TRUE(reader->Read(i, used));
    EXPECT_EQ(used.scale, columns[i].scale);
    EXPECT_EQ(used.values, columns[i].values);
    EXPECT_EQ(used.present, columns[i].present);
  }
}

TEST(TableCodec, MakesATickOfConstantsSmall) {
  Table table{4, std::vector<Column>(200)};
  for (Column& column : table.columns) column.values = {7, 7, 7, 7};
  EXPECT_LT(EncodeTable(table).size(), 100U);
}

TEST(TableCodec, RefusesMoreThanIsAllowed) {
  const std::string bytes = EncodeTable(Single({1, 2, 3}));
  EXPECT_FALSE(DecodeTable(bytes, {.rows = 2}).ok());
  EXPECT_FALSE(DecodeTable(bytes, {.columns = 0}).ok());
  EXPECT_FALSE(DecodeTable(bytes, {.cells = 2}).ok());
}

TEST(TableCodec, SaysItsSizeInItsFirstBytes) {
  for (const std::size_t rows : {1u, 65u, 70'000u}) {
    const std::string bytes =
        EncodeTable({rows, std::vector<Column>(300, {0, std::vector<std::int64_t>(rows, 7), {}})});
    const Result<TableSize> size =
        ReadTableSize(std::string_view(bytes).substr(0, kTableHeadBytes));
    ASSERT_TRUE(size) << size.error().message;
    EXPECT_EQ(size->rows, rows);
    EXPECT_EQ(size->columns, 300u);
  }
  EXPECT_FALSE(ReadTableSize(""));
  EXPECT_FALSE(ReadTableSize("no table"));
}

TEST(TableCodec, RefusesEveryCut) {
  const std::string bytes = EncodeTable(Single({1, 200, 30'000, -5, 7}, {1, 1, 1, 0, 1}));
  for (std::size_t length = 0; length < bytes.size(); ++length) {
    EXPECT_FALSE(DecodeTable(std::string_view(bytes).substr(0, length)).ok()) << length;
  }
  EXPECT_FALSE(DecodeTable(bytes + "x").ok());
}

// The codec need not detect damage (the frame's CRC does), but must end in a table or an error, in
// bounds.
TEST(TableCodec, SurvivesDamage) {
  std::mt19937_64 random(7);
  Table table{200, {}};
  for (int i = 0; i < 8; ++i) table.columns.push_back(AnyColumn(random, table.rows));
  const std::string whole = EncodeTable(table);
  for (int round = 0; round < 5'000; ++round) {
    std::string bytes = whole;
    for (auto flips = random() % 4 + 1; flips > 0; --flips) {
      bytes[random() % bytes.size()] = static_cast<char>(random());
    }
    const Result<Table> decoded = DecodeTable(bytes);
    if (decoded.ok()) {
      EXPECT_LE(decoded->rows, TableLimits{}.rows);
    }
  }
}

// A table of version 1, packed together, with some rows and columns, an inner size, and zstd's
// bytes of another size.
std::string Claiming(std::uint64_t rows, std::uint64_t columns, std::uint64_t size) {
  std::string bytes("\x01\x01", 2);
  for (const std::uint64_t number : {rows, columns, size}) PutVarint(bytes, number);
  return bytes + Compress(std::string(1'000, 'x'));
}

TEST(TableCodec, AllocatesNothingForALie) {
  const auto fault_of = [](const std::string& bytes) {
    const Result<Table> table = DecodeTable(bytes);
    return table ? std::string() : table.error().message;
  };
  EXPECT_EQ(fault_of(Claiming(16'384, 256, std::uint64_t{1} << 62)),
            "table: a size that cannot be");
  // The size fits the rows and columns, but so long a table is never packed together.
  EXPECT_EQ(fault_of(Claiming(65, 256, 1'000)), "table: a size that cannot be");
  EXPECT_EQ(fault_of(Claiming(64, 256, 100'000)), "compressed bytes: damaged");
}

}  // namespace
}  // namespace stepscope
