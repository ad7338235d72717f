#include "agent/app/job/service_notice.h"

#include <sys/socket.h>
#include <sys/un.h>

#include <cstddef>
#include <cstdlib>
#include <string>

#include "core/base/descriptor.h"

namespace stepscope {

void NotifyService(std::string_view state) {
  const char* path = std::getenv("NOTIFY_SOCKET");
  if (path == nullptr || (path[0] != '/' && path[0] != '@')) return;
  std::string name = path;
  sockaddr_un address{};
  if (name.size() >= sizeof address.sun_path) return;
  // A name outside the file system begins with a zero.
  if (name[0] == '@') name[0] = '\0';
  address.sun_family = AF_UNIX;
  name.copy(address.sun_path, name.size());
  const Descriptor socket(::socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0));
  const auto size = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + name.size());
  [[maybe_unused]] const ssize_t sent =
      sendto(socket.get(), state.data(), state.size(), MSG_NOSIGNAL | MSG_DONTWAIT,
             reinterpret_cast<const sockaddr*>(&address), size);
}

}  // namespace stepscope
