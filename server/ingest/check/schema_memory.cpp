#include "server/ingest/check/schema_memory.h"

namespace stepscope {
namespace {

// What a schema takes, with what an allocation has around it.
std::size_t BytesOf(const Schema& schema) {
  constexpr std::size_t kAround = 32;
  std::size_t bytes = sizeof(Schema);
  for (const SeriesName& column : schema.columns) {
    bytes += sizeof(column) + column.metric.size() + column.device.size() + kAround;
  }
  for (const std::string& name : schema.names) bytes += sizeof(name) + name.size() + kAround;
  return bytes;
}

}  // namespace

SchemaMemory::Known SchemaMemory::Find(const Key& key) {
  if (const auto fresh = fresh_.known.find(key); fresh != fresh_.known.end()) return fresh->second;
  const auto aged = aged_.known.find(key);
  if (aged == aged_.known.end()) return {};
  Known entry = std::move(aged->second);
  aged_.known.erase(aged);
  return Keep(key, std::move(entry));
}

SchemaMemory::Known SchemaMemory::Add(const Key& key, Schema schema, std::int64_t job_id) {
  return Keep(key, {std::make_shared<const Schema>(std::move(schema)), job_id});
}

void SchemaMemory::Forget(const std::string& session) {
  for (auto* known : {&fresh_.known, &aged_.known}) {
    known->erase(known->lower_bound({session, 0}), known->upper_bound({session, UINT64_MAX}));
  }
}

// Equal hashes do not prove equal schemas, so the schemas are compared before they are shared.
SchemaMemory::Known SchemaMemory::Keep(const Key& key, Known entry) {
  const auto [same, first] = fresh_.distinct.try_emplace(key.second, entry.schema);
  if (!first && (same->second == entry.schema || *same->second == *entry.schema)) {
    entry.schema = same->second;
  } else {
    fresh_.bytes += BytesOf(*entry.schema);
  }
  fresh_.known[key] = entry;
  if (fresh_.known.size() >= limits_.schemas || fresh_.bytes >= limits_.bytes) {
    aged_ = std::exchange(fresh_, {});
  }
  return entry;
}

}  // namespace stepscope
