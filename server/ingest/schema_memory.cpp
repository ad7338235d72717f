#include "server/ingest/schema_memory.h"

namespace stepscope {

SchemaMemory::Shared SchemaMemory::Find(const Key& key) {
  if (const auto fresh = fresh_.known.find(key); fresh != fresh_.known.end()) return fresh->second;
  const auto aged = aged_.known.find(key);
  if (aged == aged_.known.end()) return nullptr;
  Shared schema = std::move(aged->second);
  aged_.known.erase(aged);
  return Keep(key, std::move(schema));
}

SchemaMemory::Shared SchemaMemory::Add(const Key& key, Schema schema) {
  return Keep(key, std::make_shared<const Schema>(std::move(schema)));
}

void SchemaMemory::Forget(const std::string& session) {
  for (auto* known : {&fresh_.known, &aged_.known}) {
    known->erase(known->lower_bound({session, 0}), known->upper_bound({session, UINT64_MAX}));
  }
}

// A hash says little about who sent it: what is shared is the same.
SchemaMemory::Shared SchemaMemory::Keep(const Key& key, Shared schema) {
  const auto [same, first] = fresh_.distinct.try_emplace(key.second, schema);
  if (!first && *same->second == *schema) {
    schema = same->second;
  } else {
    fresh_.columns += schema->columns.size();
  }
  fresh_.known[key] = schema;
  if (fresh_.known.size() >= limits_.schemas || fresh_.columns >= limits_.columns) {
    aged_ = std::exchange(fresh_, {});
  }
  return schema;
}

}  // namespace stepscope
