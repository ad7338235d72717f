#include "server/compact/choose_frames.h"

#include <algorithm>
#include <set>
#include <span>

#include "server/store/ticks/blocks.h"

namespace stepscope {
namespace {

constexpr std::size_t kMostFrames = 4'096;
// Cells that one transaction decodes: about 9 bytes each, and 200 for a column of a frame.
constexpr std::size_t kMostCells = 8 * 1024 * 1024;
constexpr std::size_t kMostColumns = 1024 * 1024;
// Series of all blocks written in one transaction, so that it ends before the lease does. A single
// frame may have four million and take longer: a worker that takes the job over meanwhile waits for
// the frames of this node, and finds them gone, or fails and continues with the next.
constexpr std::size_t kMostPieces = 200'000;
constexpr std::size_t kSchemasAtOnce = 16;  // up to 3 MB each

// The work for several frames, if each has the series of all.
class Demand {
 public:
  void Add(const FrameKey& key, const Schema* schema) {
    rows_ += static_cast<std::size_t>(key.rows);
    AddWindows(key);
    if (!schema) return;
    columns_ += schema->columns.size();
    if (!schemas_.insert(key.schema_hash).second) return;
    series_.insert(schema->columns.begin(), schema->columns.end());
  }
  bool IsTooMuch() const {
    return rows_ * series_.size() > kMostCells || columns_ > kMostColumns ||
           windows_ * series_.size() > kMostPieces;
  }

 private:
  // An upper bound: the times of rows between a frame's first and last are not known.
  void AddWindows(const FrameKey& key) {
    const std::int64_t first = BlockWindowOf(key.from_us), last = BlockWindowOf(key.to_us);
    const std::int64_t most = std::min(key.rows, (last - first) / kBlockWindowUs + 1);
    windows_ += static_cast<std::size_t>(most) - (known_windows_.contains(first) ? 1 : 0);
    known_windows_.insert({first, last});
  }
  std::size_t rows_ = 0, columns_ = 0, windows_ = 0;
  std::set<std::int64_t> schemas_, known_windows_;
  std::set<SeriesName> series_;  // plus the block of times
};

// Loads the schemas of the next frames, some at a time.
Status LoadNext(Connection& connection, std::int64_t job_id, std::span<const FrameKey> keys,
                std::set<std::int64_t>& asked, Schemas& schemas) {
  std::set<std::int64_t> wanted;
  for (const FrameKey& key : keys) {
    if (wanted.size() >= kSchemasAtOnce) break;
    if (!asked.contains(key.schema_hash)) wanted.insert(key.schema_hash);
  }
  Result<Schemas> loaded = LoadSchemas(connection, job_id, wanted);
  if (!loaded) return loaded.error();
  schemas.merge(*loaded);
  asked.merge(wanted);
  return {};
}

}  // namespace

Result<ChosenFrames> ChooseNodeFrames(Connection& connection, std::int64_t job_id,
                                      const std::vector<FrameKey>& keys) {
  const auto some = std::span(keys).first(std::min(keys.size(), kMostFrames));
  ChosenFrames chosen;
  std::set<std::int64_t> asked;
  Demand demand;
  for (; chosen.count < some.size(); ++chosen.count) {
    const FrameKey& key = some[chosen.count];
    if (!asked.contains(key.schema_hash)) {
      const Status loaded =
          LoadNext(connection, job_id, some.subspan(chosen.count), asked, chosen.schemas);
      if (!loaded) return loaded.error();
    }
    const auto schema = chosen.schemas.find(key.schema_hash);
    demand.Add(key, schema == chosen.schemas.end() ? nullptr : &schema->second);
    if (chosen.count > 0 && demand.IsTooMuch()) break;
  }
  return chosen;
}

}  // namespace stepscope
