#pragma once

#include <string>

#include "core/base/result.h"

namespace stepscope {

// Space on the file system of a folder.
struct Storage {
  double free_bytes = 0, all_bytes = 0;

  // Less than a tenth and less than 2 GiB are free: PostgreSQL needs that to live on.
  bool low() const;
  // Low, and less than 512 MiB: the remaining room is for removals, which free some.
  bool nearly_full() const;
  std::string text() const;  // "7.2 GiB free of 20.0 GiB"
};

Result<Storage> LookAtStorage(const std::string& folder);

}  // namespace stepscope
