#pragma once

#include <string>

#include "core/base/options.h"
#include "core/base/result.h"
#include "core/base/time.h"
#include "server/app/commands/command.h"
#include "server/store/postgres/database.h"

namespace stepscope {

// "stepscope-server token create|list|revoke ...": tokens, made where the data is. The first token
// is made this way. Works beside a running service and without one. Returns the exit code.
int RunToken(Words words);

// Runs a command in the database, and returns what it prints.
struct TokenAnswer {
  std::string out;   // the token, or the list, alone
  std::string note;  // for people, on standard error
};
Result<TokenAnswer> CreateToken(Connection& connection, const Arguments& arguments, Time now);
Result<TokenAnswer> ListAllTokens(Connection& connection, const Arguments& arguments, Time now);
Result<TokenAnswer> RevokeOneToken(Connection& connection, const Arguments& arguments, Time now);

}  // namespace stepscope
