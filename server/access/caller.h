#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "server/access/right.h"

namespace stepscope {

// The sender of a request. Never changes, so that many requests share one.
struct Caller {
  enum How {
    kOpen,         // nobody has to say who they are: the person on this machine
    kToken,        // Authorization: Bearer
    kSession,      // the cookie of a browser that signed in with a token
    kCertificate,  // a client certificate, as an agent of its name
    kProxy,        // a proxy that we trust has said it
  };
  std::string name;
  std::string token_id;  // for kToken and kSession
  Role role = Role::kNone;
  std::vector<std::string> scopes;  // empty = all jobs
  How how = kOpen;
  std::optional<std::int64_t> expires_us;  // end of the token or the session
  std::vector<std::string> nodes = {};     // empty = all that are nobody else's
};

// Whether the right is granted somewhere; which job is the next question (Covers). `local` says
// that the request comes from this machine.
bool May(const Caller* caller, Right right, bool local);

}  // namespace stepscope
