#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/result.h"
#include "server/edge/http/message.h"

namespace stepscope {

// One fault in a request: where, and what is wrong there.
struct Fault {
  std::string pointer;    // JSON pointer into the body, or
  std::string parameter;  // the name of a query parameter
  std::string detail;
};

// An answer that says what went wrong: application/problem+json (RFC 9457). The code decides status
// and title; see the table in problem.cpp, which is also the published list.
struct Problem {
  std::string code;
  std::string detail;  // names the thing; never a path, a statement or a text from a library
  std::vector<Fault> faults;
  std::optional<std::uint64_t> expected;  // for "gap"
};

Reply ToReply(const Problem& problem, const Request& request);

// The answer to a client for an error inside the service. `invalid` is the code for Code::kInvalid.
// An internal error is logged here, and its text stays here.
Reply ToReply(const Error& error, const Request& request, std::string_view invalid = "bad-request");

// 503 with Retry-After; the detail says what is away.
Reply Busy(const Request& request, std::string detail);

}  // namespace stepscope
