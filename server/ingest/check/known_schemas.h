#pragma once

#include <memory>
#include <string_view>

#include "core/base/guarded.h"
#include "server/ingest/check/received_push.h"
#include "server/ingest/check/schema_memory.h"
#include "server/store/postgres/database.h"

namespace stepscope {

// The schemas of the sessions that are sending now, so that not every frame asks the database. A
// schema is remembered once it is committed: a frame must never be stored without its schema. Safe
// from any thread.
class KnownSchemas {
 public:
  // Null when it is not in memory.
  KnownSchema Recall(const FrameHead& head);
  // Null when the database has none; memory has it from now on.
  Result<KnownSchema> Load(Database& database, const FrameHead& head);

  // The stored schemas of the session are gone: its job was deleted, or made anew.
  void Forget(const CheckedPush& push);

  // Remembers a schema that rode along with a push and is now committed.
  void Remember(const CheckedPush& push, std::int64_t job_id, std::uint64_t schema_hash,
                std::string_view encoded);

 private:
  Guarded<SchemaMemory> known_;
};

}  // namespace stepscope
