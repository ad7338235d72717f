#pragma once

namespace stepscope {

// Lets freed memory stay with this process, some MiB for each of a few threads: with the usual
// settings every answer of some 100 KB gets its pages from the system and gives them back, which
// took a quarter of a chart's CPU. Does nothing where malloc is not glibc's.
void KeepFreedMemory();

}  // namespace stepscope
