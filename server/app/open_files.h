#pragma once

namespace stepscope {

// Lets this process, and what it starts, have as many open files as the system allows: a shell's
// usual 1,024 are fewer than the connections that are served. Warns when the limit stays below
// these.
void RaiseOpenFiles();

}  // namespace stepscope
