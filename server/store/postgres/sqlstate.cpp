#include "server/store/postgres/sqlstate.h"

namespace stepscope {

Code CodeOf(std::string_view sqlstate) {
  const std::string_view kind = sqlstate.substr(0, 2);
  if (sqlstate == "55P03" || sqlstate == "25006" || kind == "08" || kind == "40" || kind == "53" ||
      kind == "57") {
    return Code::kUnavailable;
  }
  if (kind == "22" || kind == "54") return Code::kInvalid;
  if (kind == "23") return Code::kConflict;
  return Code::kInternal;
}

bool IsLockTimeout(const Error& error) {
  return error.code == Code::kUnavailable && error.message.ends_with("(55P03)");
}

}  // namespace stepscope
