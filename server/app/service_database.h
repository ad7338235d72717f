#pragma once

#include <memory>

#include "server/app/settings.h"
#include "server/postgres/embedded_postgres.h"
#include "server/store/postgres/database.h"

namespace stepscope {

// The database of the service, for a command beside it: that of --database-url, the embedded one
// of a running service, or else the embedded one started for the command. Members end in reverse
// order.
struct ServiceDatabase {
  std::string url;
  std::unique_ptr<EmbeddedPostgres> postgres;  // null unless it was started
  std::unique_ptr<Connection> connection;
};
// Whether there is a database to open, so that a command beside the service makes none, as with a
// mistyped folder; NotFound says how to name it.
Status CheckHasDatabase(const Settings& settings);

// Opens it and migrates its schema.
Result<ServiceDatabase> OpenServiceDatabase(const Settings& settings);

// Opens it with the schema that it has.
Result<ServiceDatabase> OpenUnchangedDatabase(const Settings& settings);

}  // namespace stepscope
