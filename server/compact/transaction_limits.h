#pragma once

namespace stepscope {

// At the begin of each transaction of the compactor.
inline constexpr char kCompactLimits[] =
    "set local lock_timeout = '5s'; set local statement_timeout = '30s'";

// Why a transaction found its frames gone.
inline constexpr char kTaken[] = "frames: somebody else compacts them";

}  // namespace stepscope
