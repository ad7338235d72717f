#include "agent/launch/startup_pages.h"

#include <link.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cstddef>
#include <cstdint>

namespace stepscope {
namespace {

// Called for each loaded object. Releases only segments that were never writable: others may differ
// from their file.
int ReleaseObject(dl_phdr_info* object, std::size_t, void*) {
  const auto page = static_cast<std::uintptr_t>(sysconf(_SC_PAGESIZE));
  for (int i = 0; i < object->dlpi_phnum; ++i) {
    const ElfW(Phdr)& part = object->dlpi_phdr[i];
    if (part.p_type != PT_LOAD || (part.p_flags & PF_W) != 0) continue;
    const std::uintptr_t begin = object->dlpi_addr + part.p_vaddr;
    const std::uintptr_t from = (begin + page - 1) / page * page;
    const std::uintptr_t to = (begin + part.p_memsz) / page * page;
    if (to > from) madvise(reinterpret_cast<void*>(from), to - from, MADV_DONTNEED);
  }
  return 0;
}

}  // namespace

void ReleaseStartupPages() {
  dl_iterate_phdr(ReleaseObject, nullptr);
}

}  // namespace stepscope
