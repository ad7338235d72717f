#pragma once

#include <cstdint>
#include <unordered_map>
#include <vector>

#include "core/trace/trace.h"

namespace stepscope {

// Which spans of a trace belong together. Spans are known by their index in Trace::spans; made once
// and used by every analysis. Refers to the trace, which must outlive it.
//
// A launch and its device work share a correlation; one launch of a graph has much work. Device
// work and its operator share an external id, unless that is the correlation or names no operator:
// then it is the deepest operator around the launch (files of before 2024, AMD). Numbers that
// several processes of a file use for spans of their own join nothing: whose work it is, nothing
// says.
class TraceLinks {
 public:
  static constexpr std::uint32_t kNone = 0xffffffff;

  explicit TraceLinks(const Trace& trace);

  const Trace& trace() const { return trace_; }
  std::uint32_t LaunchOf(const TraceSpan& work) const;
  std::uint32_t OperatorOf(const TraceSpan& work) const;

  // The innermost operator around an operator or launch of the same thread; kNone outside of all.
  std::uint32_t ParentOf(std::uint32_t span) const { return parents_[span]; }

  // Work of each device by its start, whatever the stream.
  struct DeviceWork {
    std::int64_t device = 0;
    std::vector<std::uint32_t> spans;
  };
  const std::vector<DeviceWork>& devices() const { return devices_; }

 private:
  using ById = std::unordered_map<std::uint32_t, std::uint32_t>;
  void LinkThreads();
  void Add(ById& known, std::uint32_t id, std::uint32_t span) const;
  void CollectDevices();

  const Trace& trace_;
  std::vector<std::uint32_t> parents_;
  ById launches_, operators_;  // by correlation, by id; kNone: of several processes
  std::vector<DeviceWork> devices_;
};

}  // namespace stepscope
