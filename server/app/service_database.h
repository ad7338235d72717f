#pragma once

#include <memory>

#include "server/app/settings.h"
#include "server/postgres/embedded_postgres.h"
#include "server/store/postgres/database.h"

namespace stepscope {

// The database of the service, for a command beside it: the one of --database-url, the embedded one
// of a service that runs, or else that one started for the moment. Its parts end in reverse order.
struct ServiceDatabase {
  std::string url;
  std::unique_ptr<EmbeddedPostgres> postgres;  // null unless it was started
  std::unique_ptr<Connection> connection;
};
// Whether there is one to open, so that a command that only reads makes none; NotFound says how to
// name it.
Status CheckHasDatabase(const Settings& settings);

// Migrated.
Result<ServiceDatabase> OpenServiceDatabase(const Settings& settings);

// As it stands.
Result<ServiceDatabase> OpenUnchangedDatabase(const Settings& settings);

}  // namespace stepscope
