#include "server/store/ticks/block_cache.h"

namespace stepscope {
namespace {

constexpr std::size_t kEntryBytes = 512;  // lists, keys, and a share of the schema

}  // namespace

void BlockCache::Drop(State& state, Entries::iterator entry) {
  state.figures.bytes -= entry->bytes;
  state.keys.erase(entry->key);
  state.entries.erase(entry);
}

BlockCache::Block BlockCache::Find(const CachedBlockKey& key, std::string_view version) {
  return state_.Change([&](State& state) -> Block {
    const auto found = state.keys.find(key);
    if (found == state.keys.end() || found->second->version != version) {
      ++state.figures.misses;
      return nullptr;
    }
    ++state.figures.hits;
    state.entries.splice(state.entries.begin(), state.entries, found->second);
    return found->second->block;
  });
}

void BlockCache::Put(const CachedBlockKey& key, std::string_view version, Block block) {
  const std::size_t bytes = kEntryBytes + block->reader.bytes();
  if (bytes > most_bytes_) return;
  state_.Change([&](State& state) {
    const auto found = state.keys.find(key);
    if (found != state.keys.end()) Drop(state, found->second);
    while (state.figures.bytes + bytes > most_bytes_) Drop(state, std::prev(state.entries.end()));
    state.entries.push_front({key, std::string(version), std::move(block), bytes});
    state.keys.emplace(key, state.entries.begin());
    state.figures.bytes += bytes;
  });
}

BlockCacheFigures BlockCache::figures() const {
  return state_.Read([](const State& state) { return state.figures; });
}

}  // namespace stepscope
