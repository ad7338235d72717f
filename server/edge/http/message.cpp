#include "server/edge/http/message.h"

namespace stepscope {

std::string_view Request::Header(std::string_view name) const {
  const auto found = headers.find(std::string(name));
  return found == headers.end() ? std::string_view() : std::string_view(found->second);
}

}  // namespace stepscope
