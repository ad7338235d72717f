// Encodes and hashes the schemas of frame.h.

#include <openssl/sha.h>

#include "core/wire/bytes.h"
#include "core/wire/frame.h"

namespace stepscope {
namespace {

constexpr std::uint8_t kSchemaVersion = 1;
constexpr std::size_t kLongestSeriesName = 63;
constexpr std::size_t kMostNames = 4096;

}  // namespace

std::string EncodeSchema(const Schema& schema) {
  std::string bytes;
  Put(bytes, kSchemaVersion);
  Put(bytes, schema.rank);
  PutVarint(bytes, schema.columns.size());
  for (const SeriesName& column : schema.columns) {
    PutText(bytes, column.metric);
    PutText(bytes, column.device);
  }
  PutVarint(bytes, schema.names.size());
  for (const std::string& name : schema.names) PutText(bytes, name);
  return bytes;
}

Result<Schema> DecodeSchema(std::string_view bytes) {
  ByteReader reader(bytes);
  if (reader.Take<std::uint8_t>() != kSchemaVersion)
    return Invalid("schema: a version that is not known");
  Schema schema;
  schema.rank = reader.Take<std::int32_t>();
  // Each entry takes at least a byte, so a count beyond the bytes left is false; nothing is
  // reserved for it.
  const std::uint64_t columns = reader.TakeVarint();
  if (columns > kMaxSeriesPerFrame + 1) return Invalid("schema: too many columns");
  for (std::uint64_t i = 0; i < columns && reader.ok(); ++i) {
    const std::string metric(reader.TakeText(kLongestSeriesName));
    schema.columns.push_back({metric, std::string(reader.TakeText(kLongestSeriesName))});
  }
  const std::uint64_t names = reader.TakeVarint();
  if (names > kMostNames) return Invalid("schema: too many names");
  for (std::uint64_t i = 0; i < names && reader.ok(); ++i) {
    schema.names.emplace_back(reader.TakeText(kLongestSeriesName));
  }
  if (!reader.ok() || reader.left() != 0) return Invalid("schema: wrong length");
  return schema;
}

std::uint64_t HashSchema(const Schema& schema) {
  const std::string bytes = EncodeSchema(schema);
  unsigned char digest[SHA256_DIGEST_LENGTH];
  SHA256(reinterpret_cast<const unsigned char*>(bytes.data()), bytes.size(), digest);
  std::uint64_t hash = 0;
  std::memcpy(&hash, digest, sizeof(hash));
  return hash == 0 ? 1 : hash;
}

}  // namespace stepscope
