#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "server/store/postgres/database.h"

namespace stepscope {

// A job that was removed, with all that was known of it.
struct RemovalRow {
  std::int64_t job_id = 0;
  std::string name, reason;  // deleted, age, size
  std::int64_t asked_us = 0;
  std::int64_t rows = 0, bytes = 0;  // removed so far; bytes: of their payloads
  std::optional<std::int64_t> ended_us;
};

struct RemovalPage {
  std::vector<RemovalRow> items;
  std::string next;  // "" at the end
  std::int64_t total = 0;
};

// Newest first; only jobs within the scopes, all without any. Invalid for a cursor of another list.
Result<RemovalPage> ListRemovedJobs(Connection& connection, std::span<const std::string> scopes,
                                    const std::string& after, int limit);

}  // namespace stepscope
