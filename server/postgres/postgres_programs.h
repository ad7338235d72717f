#pragma once

#include <optional>
#include <string>

#include "core/base/result.h"

namespace stepscope {

struct PostgresPrograms {
  std::string folder;  // where initdb and postgres are
  int major = 0;       // 14 or later
};

// The newest PostgreSQL that is installed, or the one of this major version. `folder` is looked at
// alone when given. Invalid names the package to install.
Result<PostgresPrograms> FindPostgres(const std::string& folder, std::optional<int> major);

// Where pg_dump or pg_restore is: of this major version, or of the newest later one. `folder` is
// looked at alone when given. Invalid names the package to install.
Result<std::string> FindPostgresTool(const std::string& folder, const std::string& name, int major);

}  // namespace stepscope
