#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <string_view>

#include "core/model/table.h"
#include "server/store/postgres/database.h"

namespace stepscope {

// Statistics of annotations: of a push in a frame, and of 600 s of a rank in a block. Both are
// tables with equal columns, with a row for each bin of durations (core/model/span_bins.h) that a
// name has: the bin of its least and greatest. Rows that span several bins, of agents that counted
// none, are one more row of the name: kNoBin.

struct AnnotationSum {
  std::int64_t from_us = 0, to_us = 0, count = 0, sum_ns = 0, min_ns = 0, max_ns = 0;
};
using AnnotationBins = std::map<int, AnnotationSum>;               // by bin
using AnnotationSums = std::map<std::string, AnnotationBins>;      // by name
using AnnotationWindows = std::map<std::int64_t, AnnotationSums>;  // by begin of the window
inline constexpr int kNoBin = -1;
inline constexpr std::size_t kMostAnnotationNames = 4'096;  // a block's: its schema's
// The names of a block, whose table may have as many more.
inline constexpr std::size_t kMostAnnotationBins = 12'288;

// The sum of a name's rows.
AnnotationSum SumOf(const AnnotationBins& bins);

// Adds the rows of a table; or each to the block window in which it begins.
Status AddAnnotations(AnnotationSums& sums, std::string_view payload, const Schema& schema);
Status AddAnnotations(AnnotationWindows& windows, std::string_view payload, const Schema& schema);

// Adds sums to others; returns for how many a window had no room, because it has names enough. A
// name with bins enough takes new rows as kNoBin.
std::size_t AddWindows(AnnotationWindows& windows, const AnnotationWindows& more);

// Reads and deletes the blocks of the same windows, in the caller's transaction.
Result<AnnotationWindows> TakeAnnotationBlocks(Connection& connection, std::int64_t job_id,
                                               int rank, const AnnotationWindows& of);
// Writes windows that have no block. Fails where another transaction wrote one meanwhile.
Status InsertAnnotationBlocks(Connection& connection, std::int64_t job_id, int rank,
                              const AnnotationWindows& windows);

// The sums of all blocks of these ranks, by rank.
Result<std::map<int, AnnotationSums>> SumAnnotationBlocks(Connection& connection,
                                                          std::int64_t job_id,
                                                          std::span<const int> ranks);

}  // namespace stepscope
