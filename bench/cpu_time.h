#pragma once

#include <ctime>

#include "core/base/time.h"

namespace stepscope {

// CPU time of the calling thread, which does not depend on what else the machine does.
inline Duration ThreadCpuTime() {
  std::timespec time{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
  return std::chrono::seconds(time.tv_sec) + std::chrono::nanoseconds(time.tv_nsec);
}

}  // namespace stepscope
