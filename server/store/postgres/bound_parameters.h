#pragma once

#include <span>
#include <vector>

#include "server/store/postgres/database.h"

namespace stepscope {

// Parameters in the arrays that libpq takes; they point into the parameters.
struct BoundParameters {
  std::vector<unsigned> types;
  std::vector<const char*> values;
  std::vector<int> lengths, formats;

  int count() const { return static_cast<int>(types.size()); }
};

// Invalid for text with NUL, which libpq would cut there.
Result<BoundParameters> Bind(std::span<const Parameter> parameters);

}  // namespace stepscope
