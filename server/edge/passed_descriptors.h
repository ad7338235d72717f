#pragma once

#include <sys/types.h>

#include <span>
#include <vector>

#include "core/base/descriptor.h"

namespace stepscope {

// Makes senders fail who send descriptors to this unix socket or to one that it accepts. False
// where the kernel does not know how (before Linux 6.16).
bool RefuseDescriptors(int socket);

// recv() on a unix socket, without waiting, for a caller who has to close the descriptors that come
// along: plain recv() lets the kernel close them in the calling thread, which may take long.
ssize_t ReceiveWithDescriptors(int socket, std::span<char> to, std::vector<Descriptor>& passed);

}  // namespace stepscope
