#include "server/api/http/page.h"

#include "server/api/http/query.h"

namespace stepscope {

Result<Reply> PageFault(const Request& request, const Error& error) {
  if (error.code != Code::kInvalid) return error;
  return Query::Refuse(request, "cursor", "is not the cursor of such a list");
}

}  // namespace stepscope
