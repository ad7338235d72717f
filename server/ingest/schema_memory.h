#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <utility>

#include "core/model/table.h"

namespace stepscope {

// Schemas by session and hash. Sessions with the same columns share them. Bounded: when it is full,
// what was not asked for since it was last full is forgotten.
class SchemaMemory {
 public:
  using Key = std::pair<std::string, std::uint64_t>;  // session, hash
  using Shared = std::shared_ptr<const Schema>;

  struct Limits {
    std::size_t schemas = 40'000;
    std::size_t columns = 200'000;  // of schemas that are not the same
  };
  SchemaMemory() = default;
  explicit SchemaMemory(Limits limits) : limits_(limits) {}

  Shared Find(const Key& key);  // null: not known
  Shared Add(const Key& key, Schema schema);
  void Forget(const std::string& session);

 private:
  struct Generation {
    std::map<Key, Shared> known;
    std::map<std::uint64_t, Shared> distinct;  // by hash
    std::size_t columns = 0;
  };
  Shared Keep(const Key& key, Shared schema);

  Limits limits_;
  Generation fresh_, aged_;  // what was asked for since it was last full, and before
};

}  // namespace stepscope
