#include "server/access/caller.h"

namespace stepscope {

bool May(const Caller* caller, Right right, bool local) {
  switch (GrantOf(right, caller ? caller->role : Role::kNone)) {
    case Grant::kNo:
      return false;
    case Grant::kLocal:
      return local;
    case Grant::kAllJobs:
      return caller && caller->scopes.empty();
    case Grant::kInScope:
    case Grant::kYes:
      return true;
  }
  return false;
}

}  // namespace stepscope
