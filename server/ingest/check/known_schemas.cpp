#include "server/ingest/check/known_schemas.h"

#include "server/store/frames/streams.h"

namespace stepscope {

namespace {

SchemaMemory::Key KeyOf(const FrameHead& head) {
  const std::string session(reinterpret_cast<const char*>(head.session.data()),
                            head.session.size());
  return {session + head.job, head.schema_hash};
}

}  // namespace

KnownSchema KnownSchemas::Recall(const FrameHead& head) {
  const SchemaMemory::Key key = KeyOf(head);
  return known_.Change([&](SchemaMemory& known) { return known.Find(key); });
}

Result<KnownSchema> KnownSchemas::Load(Database& database, const FrameHead& head) {
  Result<Database::Lease> connection = database.Acquire();
  if (!connection) return connection.error();
  auto stored = FindSchema(**connection, head.job, head.schema_hash);
  if (!stored) return stored.error();
  if (!*stored) return KnownSchema();
  auto& [schema, job_id] = **stored;
  return known_.Change(
      [&](SchemaMemory& known) { return known.Add(KeyOf(head), std::move(schema), job_id); });
}

void KnownSchemas::Remember(const CheckedPush& push, std::int64_t job_id, std::uint64_t schema_hash,
                            std::string_view encoded) {
  Result<Schema> schema = DecodeSchema(encoded);
  if (!schema) return;
  known_.Change([&](SchemaMemory& known) {
    known.Add({push.session + push.job, schema_hash}, std::move(*schema), job_id);
  });
}

void KnownSchemas::Forget(const CheckedPush& push) {
  known_.Change([&](SchemaMemory& known) { known.Forget(push.session + push.job); });
}

}  // namespace stepscope
