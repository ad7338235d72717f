#pragma once

#include <string>

#include "core/base/descriptor.h"
#include "core/base/result.h"
#include "server/edge/address.h"

namespace stepscope {

// An accepted connection, or why there is none.
struct Accepted {
  Descriptor descriptor;
  std::string peer;  // its address; "unix" on a unix socket
  int fault = 0;     // errno when there is no descriptor
};

// A listening socket, non-blocking and with a long backlog; the file of a unix socket goes with it.
// For one thread at a time.
class Listener {
 public:
  // Port 0: any free one. A file that a dead server left is replaced. Errors name the address and
  // the way out.
  // `refuse_descriptors` is false for tests of what happens where the kernel cannot.
  static Result<Listener> Open(const ListenAddress& address, bool refuse_descriptors = true);

  Listener(Listener&&) = default;
  Listener& operator=(Listener&&) = delete;
  ~Listener();

  int descriptor() const { return descriptor_.get(); }
  bool local_file() const { return !address_.path.empty(); }
  // Whether clients can send descriptors along: on a unix socket of an older kernel.
  bool takes_descriptors() const { return takes_descriptors_; }
  int port() const;  // the port that it really listens on; 0 for a unix socket

  bool HasNext() const;

  // The next connection, non-blocking and without delay for small answers.
  Accepted Accept() const;

 private:
  Listener(Descriptor descriptor, ListenAddress address, bool takes_descriptors)
      : descriptor_(std::move(descriptor)),
        address_(std::move(address)),
        takes_descriptors_(takes_descriptors) {}

  Descriptor descriptor_;
  ListenAddress address_;
  bool takes_descriptors_;
};

}  // namespace stepscope
