#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "server/store/postgres/database.h"

namespace stepscope {

// A change that a caller made.
struct AuditRow {
  std::int64_t audit_id = 0, at_us = 0;
  std::string token_id, name;  // the caller's
  std::string action;          // "token.revoke"
  std::string target;          // name or number of what was changed
  std::string request_id;
  std::string peer;  // address of the client; "" at the command line
};

// Written in the transaction of the change: neither exists without the other.
Status InsertAudit(Connection&, const AuditRow&);

struct AuditPage {
  std::vector<AuditRow> items;
  std::string next;  // "" at the end
  std::int64_t total = 0;
};
// Newest first. Invalid for a cursor of another list.
Result<AuditPage> ListAudit(Connection&, const std::string& after, int limit);

}  // namespace stepscope
