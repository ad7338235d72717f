#include "server/app/service_database.h"

#include <filesystem>

#include "core/base/text.h"
#include "server/store/schema/migrations.h"

namespace stepscope {
namespace {

Status Connect(const std::string& url, ServiceDatabase& database) {
  database.url = url;
  Result<std::unique_ptr<Connection>> open = Connection::Open(url);
  if (!open) return open.error();
  database.connection = std::move(*open);
  return {};
}

// The folder is locked while a service runs on it, so nobody starts a second PostgreSQL there.
Status OpenEmbedded(const Settings& settings, ServiceDatabase& database) {
  if (Connect(EmbeddedPostgres::UrlIn(settings.data_dir), database)) return {};
  Result<std::unique_ptr<EmbeddedPostgres>> started = EmbeddedPostgres::Start(
      {.data_dir = settings.data_dir, .pg_bindir = settings.pg_bindir, .settings = {}});
  if (!started) return started.error();
  database.postgres = std::move(*started);
  return Connect(database.postgres->url(), database);
}

}  // namespace

Status CheckHasDatabase(const Settings& settings) {
  std::error_code none;
  const std::string folder = settings.data_dir + "/postgres";
  if (!settings.database_url.empty() || std::filesystem::exists(folder, none)) return {};
  return NotFound(
      Format("{} holds no database: a service makes it when it first starts; name its folder with "
             "--data-dir, or give --database-url",
             settings.data_dir));
}

Result<ServiceDatabase> OpenUnchangedDatabase(const Settings& settings) {
  ServiceDatabase database;
  const Status open = settings.database_url.empty() ? OpenEmbedded(settings, database)
                                                    : Connect(settings.database_url, database);
  if (!open) return open.error();
  return database;
}

Result<ServiceDatabase> OpenServiceDatabase(const Settings& settings) {
  Result<ServiceDatabase> database = OpenUnchangedDatabase(settings);
  if (!database) return database;
  if (const Status done = Migrate(*database->connection); !done) return done.error();
  return database;
}

}  // namespace stepscope
