#pragma once

#include <cstddef>
#include <cstdint>
#include <list>
#include <map>
#include <memory>
#include <string>

#include "core/base/guarded.h"
#include "core/wire/table_codec.h"

namespace stepscope {

// A stored table, ready to decode the columns that are wanted.
struct OpenTable {
  std::shared_ptr<const Schema> schema;  // shared by all tables of a node
  TableReader reader;
};

struct CachedBlockKey {
  std::int64_t job_id = 0, node_id = 0, window_us = 0;
  std::string metric;

  auto operator<=>(const CachedBlockKey&) const = default;
};

struct BlockCacheFigures {
  std::uint64_t hits = 0, misses = 0;
  std::size_t bytes = 0;
};

// Blocks as they were last read. A block is given only for the version of its row that the reader's
// own statement has just seen, so a writer of blocks has nobody to notify. Bounded in bytes: blocks
// that were not asked for longest go first. Safe from any thread, never waits.
class BlockCache {
 public:
  // Shared, because readers keep a block that is dropped meanwhile.
  using Block = std::shared_ptr<const OpenTable>;

  explicit BlockCache(std::size_t most_bytes) : most_bytes_(most_bytes) {}

  // Null when there is no block, or one of another version.
  Block Find(const CachedBlockKey& key, std::string_view version);
  void Put(const CachedBlockKey& key, std::string_view version, Block block);

  BlockCacheFigures figures() const;

 private:
  struct Entry {
    CachedBlockKey key;
    std::string version;
    Block block;
    std::size_t bytes = 0;
  };
  using Entries = std::list<Entry>;  // last asked for first
  struct State {
    Entries entries;
    std::map<CachedBlockKey, Entries::iterator> keys;
    BlockCacheFigures figures;
  };
  static void Drop(State& state, Entries::iterator entry);

  const std::size_t most_bytes_;
  Guarded<State> state_;
};

}  // namespace stepscope
