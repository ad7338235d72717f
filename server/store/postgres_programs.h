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

}  // namespace stepscope
