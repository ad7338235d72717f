#pragma once

#include <cstdint>
#include <vector>

#include "core/base/clock.h"
#include "server/ingest/group.h"

namespace stepscope {

// Frames of one push that are to be stored, and the outcome of the push.
struct GroupPart {
  GroupItem item;
  PushOutcome* outcome = nullptr;
};

// Everything that is needed to store them.
struct StoreTools {
  Connection& connection;
  const IngestOptions& options;
  const Clock& clock;
  BoundNodes& bound;
};

// Stores the parts in one transaction. When PostgreSQL refuses the content of a group, it is halved
// until the culprit stands alone; that frame is then refused by name. When another transaction
// holds rows of a job, each job is stored by itself, and the outcomes of those pushes have an error
// that were not. An error means that a part was not stored, and no sender of the group may be told
// that it was. `duplicate_rows` counts frames that the natural key kept out although their cursor
// had let them through.
Status StoreParts(const StoreTools& tools, const std::vector<GroupPart>& parts,
                  std::uint64_t& duplicate_rows);

// Stores them on the machine of their job (StoreGroupThere). False: they are for the coordinator.
Result<bool> StorePartsThere(const StoreTools& tools, const std::vector<GroupPart>& parts);

}  // namespace stepscope
