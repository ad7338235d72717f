#pragma once

namespace stepscope {

// At the begin of each transaction of the compactor. Between its statements it decodes and encodes
// millions of values, which a busy machine makes last longer than sessions may be idle else. A
// pause has to end before the lease does; of all of them together only one frame that makes
// millions of blocks is longer (choose_frames.cpp).
inline constexpr char kCompactLimits[] =
    "set local lock_timeout = '5s'; set local statement_timeout = '30s';"
    "set local idle_in_transaction_session_timeout = '60s'";

}  // namespace stepscope
