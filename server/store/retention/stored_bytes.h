#pragma once

#include <cstdint>
#include <map>
#include <vector>

#include "server/store/postgres/database.h"

namespace stepscope {

// The disk space of rows with payloads, about: PostgreSQL adds headers, keys and pieces of its own.
constexpr std::int64_t OnDisk(std::int64_t rows, std::int64_t payload_bytes) {
  return rows * 200 + payload_bytes + payload_bytes / 32;
}

// The bytes of blocks that end before `until_us`, and not before the previous entry's.
struct SamplesUntil {
  std::int64_t until_us = 0, bytes = 0;
};
struct StoredBytes {
  std::int64_t live = 0;              // existing rows, without the space of removed ones
  std::int64_t files = 0;             // tables and their indexes, with that space
  std::vector<SamplesUntil> samples;  // the samples and steps in `live`, oldest first
};

// Measures frames, blocks, rollups and blocks of steps. Only a part of a large table is read, so
// the result is right to a few percent, and costs the same at any size.
Result<StoredBytes> MeasureStored(Connection& connection);

// The bytes of existing rows of each job.
Result<std::map<std::int64_t, std::int64_t>> MeasureJobs(Connection& connection);

// The time before which samples have to be removed to free so many bytes, at most `latest_us`; 0
// when there are none.
std::int64_t TimeToFree(const StoredBytes& stored, std::int64_t bytes, std::int64_t latest_us);

// The holder of this lock may remove for the size of all; one at a time, until the session unlocks
// or ends.
Result<bool> TryLockSize(Connection& connection);
void UnlockSize(Connection& connection);

}  // namespace stepscope
