#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <utility>

#include "core/model/table.h"

namespace stepscope {

// Schemas by session and hash. Sessions with the same columns share them. Bounded by number and by
// bytes: when it is full, schemas that were not used since it was last full are forgotten.
class SchemaMemory {
 public:
  using Key = std::pair<std::string, std::uint64_t>;  // session, hash
  using Shared = std::shared_ptr<const Schema>;

  // A schema, and the job that it is stored for: another one may have the same name today.
  struct Known {
    Shared schema;
    std::int64_t job_id = 0;
  };
  struct Limits {
    std::size_t schemas = 40'000;
    std::size_t bytes = 24 * 1024 * 1024;  // of different schemas
  };
  SchemaMemory() = default;
  explicit SchemaMemory(Limits limits) : limits_(limits) {}

  Known Find(const Key& key);  // null: not known
  Known Add(const Key& key, Schema schema, std::int64_t job_id);
  void Forget(const std::string& session);

 private:
  struct Generation {
    std::map<Key, Known> known;
    std::map<std::uint64_t, Shared> distinct;  // by hash
    std::size_t bytes = 0;
  };
  Known Keep(const Key& key, Known entry);

  Limits limits_;
  Generation fresh_, aged_;  // schemas used since it was last full, and before
};

}  // namespace stepscope
