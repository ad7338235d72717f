#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "core/base/json.h"
#include "server/trace/trace_links.h"

namespace stepscope {

// The threads of a trace as trees of calls: what ran within what, by names from the outermost in.
// Calls of the same names become one node. Frames of Python, annotations, operators and calls of
// the runtime nest as their times do; marks of steps are left out, so that steps are added up.
struct CallNode {
  std::int64_t parent = -1;  // index of its parent, which stands before it; -1: a thread
  std::string name;
  SpanKind kind = SpanKind::kOther;  // other: a thread
  std::uint64_t calls = 0;
  // On the host: without what lies behind the parent's end; the time within its children included.
  std::int64_t total_ns = 0;
  std::int64_t inner_ns = 0;         // its children's
  std::int64_t device_total_ns = 0;  // work that it or its children launched
  std::int64_t device_self_ns = 0;   // work that it launched itself
};
struct CallTree {
  std::vector<CallNode> nodes;   // a parent before its children, which stand behind each other
  std::size_t left_out = 0;      // nodes with less time than those that are here
  std::uint64_t not_told = 0;    // spans beyond the bounds: their time is their parents' own
  std::int64_t unlinked_ns = 0;  // device work whose operator is not known
};
inline constexpr std::size_t kMostCallNodes = 5'000;    // in an answer
inline constexpr std::size_t kMostCallPaths = 200'000;  // while it is made
inline constexpr std::size_t kMostCallDepth = 256;

CallTree MakeCallTree(const TraceLinks& links);
OrderedJson ToJson(const CallTree& tree);

}  // namespace stepscope
