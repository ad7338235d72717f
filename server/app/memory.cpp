#include "server/app/memory.h"

#include <malloc.h>

namespace stepscope {

void KeepFreedMemory() {
#ifdef __GLIBC__
  // A chart of 512 series takes 25 MiB; so 128 MiB at most, until they are given back.
  constexpr int kKept = 32 << 20, kArenas = 4;
  mallopt(M_TRIM_THRESHOLD, kKept);
  mallopt(M_MMAP_THRESHOLD, kKept);
  mallopt(M_ARENA_MAX, kArenas);
#endif
}

void ReturnFreedMemory() {
#ifdef __GLIBC__
  malloc_trim(0);
#endif
}

}  // namespace stepscope
