#pragma once

#include <sys/eventfd.h>
#include <unistd.h>

#include <cstdint>

#include "core/base/descriptor.h"

namespace stepscope {

// A one-time event for threads that poll: once set, its descriptor stays readable. Safe from any
// thread.
class Event {
 public:
  explicit operator bool() const { return static_cast<bool>(descriptor_); }
  int descriptor() const { return descriptor_.get(); }

  void Set() const {
    const std::uint64_t one = 1;
    [[maybe_unused]] const auto written = write(descriptor_.get(), &one, sizeof one);
  }

 private:
  const Descriptor descriptor_{eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)};
};

}  // namespace stepscope
