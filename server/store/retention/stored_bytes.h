#pragma once

#include <cstdint>
#include <map>
#include <vector>

#include "server/store/postgres/database.h"

namespace stepscope {

// What rows with payloads take on disk, about: PostgreSQL adds heads, keys and pieces of its own.
constexpr std::int64_t OnDisk(std::int64_t rows, std::int64_t payload_bytes) {
  return rows * 200 + payload_bytes + payload_bytes / 32;
}

struct SamplesUntil {
  std::int64_t until_us = 0, bytes = 0;  // of blocks that end before, and not before the last one's
};
struct StoredBytes {
  std::int64_t live = 0;   // of rows that are there; space that removed ones left does not count
  std::int64_t files = 0;  // of the tables and their indexes, with that space
  std::vector<SamplesUntil> samples;  // what of `live` are samples and steps, oldest first
};

// Measures frames, blocks, rollups and blocks of steps. Of large tables a part of the pages is
// read, so the answer is right to a few parts in a hundred, and costs the same at any size.
Result<StoredBytes> MeasureStored(Connection& connection);

// The same, of each job.
Result<std::map<std::int64_t, std::int64_t>> MeasureJobs(Connection& connection);

// The time before which samples have to go for so many bytes, but not after `latest_us`; 0 when
// there are none.
std::int64_t TimeToFree(const StoredBytes& stored, std::int64_t bytes, std::int64_t latest_us);

// Who holds it may remove for the size of all; one at a time, until the session lets go or ends.
Result<bool> TryLockSize(Connection& connection);
void UnlockSize(Connection& connection);

}  // namespace stepscope
