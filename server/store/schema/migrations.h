#pragma once

#include <span>
#include <string_view>

#include "server/store/postgres/database.h"

namespace stepscope {

// A file of migrations/, embedded into the program.
struct Migration {
  int version = 0;
  std::string_view name;
  std::string_view sql;
};
std::span<const Migration> Migrations();
// The files of migrations/citus/.
std::span<const Migration> CitusMigrations();

// Brings the database to the newest schema: each file in a transaction of its own, under an
// advisory lock that is polled for 60 s, so that several servers may start together. Refuses
// (Conflict) a database that is newer than this program, has a gap, or was made from files that
// differ. Where the extension citus is installed, the tables are distributed then.
Status Migrate(Connection& connection);

// Migrates with a list of the caller's own, and without Citus.
Status Migrate(Connection& connection, std::span<const Migration> migrations,
               Duration lock_wait = std::chrono::seconds(60));

}  // namespace stepscope
