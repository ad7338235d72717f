#pragma once

#include <string>
#include <vector>

#include "core/base/json.h"
#include "server/store/postgres/database.h"

namespace stepscope {

// A jsonb cell that this program wrote. Null for an SQL null.
Json ReadJson(const Rows& rows, std::size_t row, std::size_t column);

// Success or error of a statement whose rows do not matter.
Status Done(const Result<Rows>& result);

// Microseconds, the unit of times and leases in statements.
inline std::int64_t Micros(Duration duration) {
  return std::chrono::duration_cast<std::chrono::microseconds>(duration).count();
}

// A position in a list for the next page: a JSON array as base64url, opaque to everyone else.
// Invalid unless it has as many values as `like`, each of the same kind (number or text).
std::string EncodeCursor(const Json& position);
Result<Json> DecodeCursor(const std::string& cursor, const Json& like);

}  // namespace stepscope
