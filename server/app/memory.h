#pragma once

namespace stepscope {

// Lets freed memory stay with this process for a while: with the usual settings every answer of
// some 100 KB gets its pages from the system and gives them back, which took a quarter of a chart's
// CPU. Does nothing where malloc is not glibc's.
void KeepFreedMemory();

// Gives back the memory that was kept. Takes milliseconds, in which others may wait for memory.
void ReturnFreedMemory();

}  // namespace stepscope
