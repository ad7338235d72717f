#pragma once

#include <optional>
#include <string>

#include "core/base/result.h"

namespace stepscope {

struct PostgresPrograms {
  std::string folder;  // the folder of initdb and postgres
  int major = 0;       // 14 or later
};

// The newest installed PostgreSQL, or the one of this major version. A given `folder` is searched
// alone. Invalid names the package to install.
Result<PostgresPrograms> FindPostgres(const std::string& folder, std::optional<int> major);

// The path of pg_dump or pg_restore: of this major version, or of the newest later one. A given
// `folder` is searched alone. Invalid names the package to install.
Result<std::string> FindPostgresTool(const std::string& folder, const std::string& name, int major);

}  // namespace stepscope
