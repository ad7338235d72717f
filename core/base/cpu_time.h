#pragma once

#include <time.h>

#include "core/base/time.h"

namespace stepscope {

inline Duration CpuTimeOf(clockid_t clock) {
  timespec time{};
  clock_gettime(clock, &time);
  return std::chrono::seconds(time.tv_sec) + std::chrono::nanoseconds(time.tv_nsec);
}

// CPU time that the calling thread, or all threads of this process, have used. A call costs some
// 0.2 us.
inline Duration ThreadCpuTime() {
  return CpuTimeOf(CLOCK_THREAD_CPUTIME_ID);
}
inline Duration ProcessCpuTime() {
  return CpuTimeOf(CLOCK_PROCESS_CPUTIME_ID);
}

}  // namespace stepscope
