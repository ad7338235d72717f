#pragma once

#include "server/store/frames/streams.h"

namespace stepscope {

// The statements of streams.h for Citus: they are about one job, and each names one table and the
// job. Citus knows the shard of such a statement without planning it, which takes more than to run
// it: a push that is stored by them costs half. Lists are not empty, and of one job.

Statement SeeNodesOfJob(std::span<const NodeSeen> nodes);
Statement LockStreamsOfJob(std::span<const StreamKey> streams);
Statement AdvanceStreamsOfJob(std::span<const StreamAdvance> streams);

// Rows as values are for few rows: there is one text for each number of them.
inline constexpr std::size_t kMostRowsOfValues = 16;
Statement InsertFewFrames(std::span<const NewFrame> frames);
// "($1, $2), ($3, $4)" for two rows of two columns.
std::string PlacesOf(std::size_t rows, std::size_t columns);

}  // namespace stepscope
