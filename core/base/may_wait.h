#pragma once

namespace stepscope {

// Whether a call may wait: for a database, or for computations of more than some 100 us. On the
// edge's own thread, which moves the bytes of all connections, nothing may.
enum class MayWait : bool { kNo, kYes };

}  // namespace stepscope
