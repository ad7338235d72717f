#pragma once

namespace stepscope {

// Limits set at the begin of each transaction of the compactor. Between its statements it decodes
// and encodes millions of values, which a busy machine makes last longer than sessions may be idle
// else. A pause has to end before the lease does; only a frame that makes millions of blocks takes
// longer in all (choose_frames.cpp).
inline constexpr char kCompactLimits[] =
    "set local lock_timeout = '5s'; set local statement_timeout = '30s';"
    "set local idle_in_transaction_session_timeout = '60s'";

}  // namespace stepscope
