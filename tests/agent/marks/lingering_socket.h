#pragma once

#include <arpa/inet.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <sys/socket.h>

#include <array>

#include "core/base/descriptor.h"
#include "core/base/detached_thread.h"

namespace stepscope::testing_support {

// A connection whose other end reads nothing: its near end, when it is closed last, waits for as
// long as it lingers.
class LingeringSocket {
 public:
  LingeringSocket() {
    const Descriptor listener(socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t size = sizeof address;
    auto* const name = reinterpret_cast<sockaddr*>(&address);
    EXPECT_EQ(bind(listener.get(), name, size), 0);
    EXPECT_EQ(listen(listener.get(), 1), 0);
    EXPECT_EQ(getsockname(listener.get(), name, &size), 0);
    near = Descriptor(socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
    EXPECT_EQ(connect(near.get(), name, size), 0);
    far_ = Descriptor(accept4(listener.get(), nullptr, nullptr, SOCK_CLOEXEC));
    const std::array<char, 65'536> bytes{};
    while (send(near.get(), bytes.data(), bytes.size(), MSG_DONTWAIT) > 0) continue;
    const linger slow{.l_onoff = 1, .l_linger = 25};
    EXPECT_EQ(setsockopt(near.get(), SOL_SOCKET, SO_LINGER, &slow, sizeof slow), 0);
  }

  // Closes this end here without a wait. Where it could not be passed on, it lingers on a thread of
  // its own.
  void CloseHere() {
    StartDetachedThread("slow", [copy = near.Release()] { close(copy); });
  }

  Descriptor near;

 private:
  Descriptor far_;
};

}  // namespace stepscope::testing_support
