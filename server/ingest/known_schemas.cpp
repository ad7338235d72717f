#include "server/ingest/known_schemas.h"

#include "server/store/streams.h"

namespace stepscope {

namespace {

SchemaMemory::Key KeyOf(const FrameHead& head) {
  const std::string session(reinterpret_cast<const char*>(head.session.data()),
                            head.session.size());
  return {session + head.job, head.schema_hash};
}

}  // namespace

std::shared_ptr<const Schema> KnownSchemas::FindInMemory(const FrameHead& head) {
  const SchemaMemory::Key key = KeyOf(head);
  return known_.Change([&](SchemaMemory& known) { return known.Find(key); });
}

Result<std::shared_ptr<const Schema>> KnownSchemas::Find(Database& database,
                                                         const FrameHead& head) {
  if (auto schema = FindInMemory(head)) return schema;
  Result<Database::Lease> connection = database.Acquire();
  if (!connection) return connection.error();
  Result<std::optional<Schema>> stored = FindSchema(**connection, head.job, head.schema_hash);
  if (!stored) return stored.error();
  if (!*stored) return std::shared_ptr<const Schema>();
  return known_.Change(
      [&](SchemaMemory& known) { return known.Add(KeyOf(head), std::move(**stored)); });
}

void KnownSchemas::Remember(const CheckedPush& push, std::uint64_t schema_hash,
                            std::string_view encoded) {
  Result<Schema> schema = DecodeSchema(encoded);
  if (!schema) return;
  known_.Change([&](SchemaMemory& known) {
    known.Add({push.session + push.job, schema_hash}, std::move(*schema));
  });
}

void KnownSchemas::Forget(const CheckedPush& push) {
  known_.Change([&](SchemaMemory& known) { known.Forget(push.session + push.job); });
}

}  // namespace stepscope
