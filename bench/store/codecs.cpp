#include "bench/store/codecs.h"

#include "bench/store/gorilla.h"
#include "core/wire/bytes.h"
#include "core/wire/column_codec.h"
#include "core/wire/compress.h"

namespace stepscope {
namespace {

constexpr std::size_t kLongestVarint = 10;

std::string EncodeVarints(const Column& column) {
  std::string bytes;
  std::uint64_t before = 0;
  for (const std::int64_t value : column.values) {
    const auto number = static_cast<std::uint64_t>(value);
    PutVarint(bytes, ZigZag(static_cast<std::int64_t>(number - before)));
    before = number;
  }
  return bytes;
}

std::vector<std::int64_t> DecodeVarints(std::string_view bytes, std::size_t rows) {
  ByteReader reader(bytes);
  std::vector<std::int64_t> values(rows);
  std::uint64_t number = 0;
  for (std::int64_t& value : values) {
    number += static_cast<std::uint64_t>(UnZigZag(reader.TakeVarint()));
    value = static_cast<std::int64_t>(number);
  }
  return values;
}

// The length of the varints comes first.
std::string EncodePressedVarints(const Column& column) {
  const std::string varints = EncodeVarints(column);
  std::string bytes;
  PutVarint(bytes, varints.size());
  return bytes + Compress(varints);
}

std::vector<std::int64_t> DecodePressedVarints(std::string_view bytes, std::size_t rows) {
  ByteReader reader(bytes);
  const std::uint64_t size = reader.TakeVarint();
  if (size > rows * kLongestVarint) return {};
  const Result<std::string> varints = Decompress(reader.rest(), static_cast<std::size_t>(size));
  return varints ? DecodeVarints(*varints, rows) : std::vector<std::int64_t>();
}

template <int level>
std::string EncodeOurs(const Column& column) {
  std::string bytes;
  EncodeColumn(column, bytes, level);
  return bytes;
}

std::vector<std::int64_t> DecodeOurs(std::string_view bytes, std::size_t rows) {
  Column column;
  const Status read = DecodeColumn(bytes, rows, column);
  return read ? std::move(column.values) : std::vector<std::int64_t>();
}

constexpr Codec kCodecs[] = {
    {"Gorilla XOR", true, [](const Column& column) { return EncodeGorilla(column.values); },
     DecodeGorilla},
    {"delta varint", false, EncodeVarints, DecodeVarints},
    {"delta varint, zstd 1", false, EncodePressedVarints, DecodePressedVarints},
    {"ours, zstd 1", false, EncodeOurs<1>, DecodeOurs},
    {"ours, zstd 3", false, EncodeOurs<3>, DecodeOurs},
    {"ours, zstd 9", false, EncodeOurs<9>, DecodeOurs},
};

}  // namespace

std::span<const Codec> Codecs() {
  return kCodecs;
}

}  // namespace stepscope
