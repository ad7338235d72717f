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

// Statistics of annotations: what a frame says of a push, and a block of a rank's window of 600 s.
// Both are tables of the same columns, with a row for each bin of durations
// (core/model/span_bins.h) that a name has: the bin is that of its least and greatest. Rows that
// reach over several, of agents that counted no bins, are one more of the name: kNoBin.

struct AnnotationSum {
  std::int64_t from_us = 0, to_us = 0, count = 0, sum_ns = 0, min_ns = 0, max_ns = 0;
};
using AnnotationBins = std::map<int, AnnotationSum>;               // by bin
using AnnotationSums = std::map<std::string, AnnotationBins>;      // by name
using AnnotationWindows = std::map<std::int64_t, AnnotationSums>;  // by begin of the window
inline constexpr int kNoBin = -1;
inline constexpr std::size_t kMostAnnotationNames = 4'096;  // of a block: its schema's
// Of a block, whose table may have as many more as it has names.
inline constexpr std::size_t kMostAnnotationBins = 12'288;

// All of a name.
AnnotationSum SumOf(const AnnotationBins& bins);

// Adds the rows of a table; or each to the window in which it begins.
Status AddAnnotations(AnnotationSums& sums, std::string_view payload, const Schema& schema);
Status AddAnnotations(AnnotationWindows& windows, std::string_view payload, const Schema& schema);

// Adds one to the other; says for how many sums there was no room in a window with names enough.
// One with bins enough takes what is new as of no bin.
std::size_t AddWindows(AnnotationWindows& windows, const AnnotationWindows& more);

// Takes out the blocks of the same windows: gives what they say and deletes them, in the caller's
// transaction.
Result<AnnotationWindows> TakeAnnotationBlocks(Connection& connection, std::int64_t job_id,
                                               int rank, const AnnotationWindows& of);
// Writes windows that have no block. Fails where another transaction wrote one meanwhile.
Status InsertAnnotationBlocks(Connection& connection, std::int64_t job_id, int rank,
                              const AnnotationWindows& windows);

// What all blocks of these ranks say, by rank.
Result<std::map<int, AnnotationSums>> SumAnnotationBlocks(Connection& connection,
                                                          std::int64_t job_id,
                                                          std::span<const int> ranks);

}  // namespace stepscope
