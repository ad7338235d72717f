#pragma once

#include <functional>
#include <memory>

#include "server/store/postgres/database.h"

namespace stepscope {

// The roles of the private PostgreSQL. The service works as the first, which owns its database and
// is no superuser: whatever runs with its rights, a function in a restored dump too, starts no
// program and reads no file. The second is initdb's, and only makes the first.
inline constexpr char kServiceRole[] = "stepscope", kSuperuserRole[] = "stepscope_superuser";
inline constexpr char kServiceDatabase[] = "stepscope", kFirstDatabase[] = "postgres";

// Opens a session as this role with this database.
using OpenAs =
    std::function<Result<std::unique_ptr<Connection>>(const char* role, const char* database)>;

// Makes the service's role and database where they are missing. In a cluster of an earlier version,
// where the service's role was initdb's superuser, that one gets the other name and the service's
// tables get a new owner. A kill in the middle leaves nothing half made. For one thread.
Status PrepareRoles(const OpenAs& open);

}  // namespace stepscope
