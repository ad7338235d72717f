#include "server/edge/http/growth.h"

namespace stepscope {

void AppendWithin(std::string_view bytes, std::size_t most, std::string& to) {
  constexpr std::size_t kLeast = 4096;
  const std::size_t needed = to.size() + bytes.size();
  if (needed > to.capacity()) {
    std::size_t room = most;
    while (room / 2 >= needed && room > kLeast) room /= 2;
    to.reserve(room);
  }
  to.append(bytes);
}

}  // namespace stepscope
