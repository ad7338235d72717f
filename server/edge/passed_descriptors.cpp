#include "server/edge/passed_descriptors.h"

#include <sys/socket.h>

#include <cstring>

namespace stepscope {
namespace {

constexpr int kPassRights = 83;                // SO_PASSRIGHTS, which older headers lack
constexpr std::size_t kMostDescriptors = 253;  // of one message, as the kernel has it

}  // namespace

bool RefuseDescriptors(int socket) {
  const int off = 0;
  return setsockopt(socket, SOL_SOCKET, kPassRights, &off, sizeof off) == 0;
}

ssize_t ReceiveWithDescriptors(int socket, std::span<char> to, std::vector<Descriptor>& passed) {
  alignas(cmsghdr) char control[CMSG_SPACE(kMostDescriptors * sizeof(int))];
  iovec bytes{to.data(), to.size()};
  msghdr message{};
  message.msg_iov = &bytes;
  message.msg_iovlen = 1;
  message.msg_control = control;
  message.msg_controllen = sizeof control;
  const ssize_t length = recvmsg(socket, &message, MSG_DONTWAIT | MSG_CMSG_CLOEXEC);
  if (length < 0) return length;
  for (cmsghdr* part = CMSG_FIRSTHDR(&message); part; part = CMSG_NXTHDR(&message, part)) {
    if (part->cmsg_level != SOL_SOCKET || part->cmsg_type != SCM_RIGHTS) continue;
    const std::size_t count = (part->cmsg_len - CMSG_LEN(0)) / sizeof(int);
    for (std::size_t at = 0; at < count; ++at) {
      int descriptor = -1;
      std::memcpy(&descriptor, CMSG_DATA(part) + at * sizeof(int), sizeof descriptor);
      passed.emplace_back(descriptor);
    }
  }
  return length;
}

}  // namespace stepscope
