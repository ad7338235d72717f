#include "server/ingest/known_schemas.h"

#include "server/store/streams.h"

namespace stepscope {
namespace {

constexpr std::size_t kMost = 4096;

}  // namespace

Result<std::shared_ptr<const Schema>> KnownSchemas::Find(Database& database,
                                                         const FrameHead& head) {
  const std::string session(reinterpret_cast<const char*>(head.session.data()),
                            head.session.size());
  const Key key{session + head.job, head.schema_hash};
  std::shared_ptr<const Schema> schema = known_.Read([&](const auto& known) {
    const auto found = known.find(key);
    return found == known.end() ? nullptr : found->second;
  });
  if (schema) return schema;
  Result<Database::Lease> connection = database.Acquire();
  if (!connection) return connection.error();
  Result<std::optional<Schema>> stored = FindSchema(**connection, head.job, head.schema_hash);
  if (!stored) return stored.error();
  if (!*stored) return std::shared_ptr<const Schema>();
  schema = std::make_shared<const Schema>(std::move(**stored));
  Add(key, schema);
  return schema;
}

void KnownSchemas::Remember(const CheckedPush& push, std::uint64_t schema_hash,
                            std::string_view encoded) {
  Result<Schema> schema = DecodeSchema(encoded);
  if (!schema) return;
  Add({push.session + push.job, schema_hash}, std::make_shared<const Schema>(std::move(*schema)));
}

void KnownSchemas::Forget(const CheckedPush& push) {
  known_.Change([&](auto& known) {
    std::erase_if(known,
                  [&](const auto& entry) { return entry.first.first == push.session + push.job; });
  });
}

// When it is full it starts anew: the database still knows them all.
void KnownSchemas::Add(const Key& key, std::shared_ptr<const Schema> schema) {
  known_.Change([&](auto& known) {
    if (known.size() >= kMost) known.clear();
    known[key] = std::move(schema);
  });
}

}  // namespace stepscope
