#include "server/app/memory.h"

#include <malloc.h>

namespace stepscope {

void KeepFreedMemory() {
#ifdef __GLIBC__
  constexpr int kKept = 2 << 20, kArenas = 8;  // so 16 MiB at most
  mallopt(M_TRIM_THRESHOLD, kKept);
  mallopt(M_MMAP_THRESHOLD, kKept);
  mallopt(M_ARENA_MAX, kArenas);
#endif
}

}  // namespace stepscope
