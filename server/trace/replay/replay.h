#pragma once

#include <cstddef>
#include <cstdint>
#include <unordered_map>
#include <vector>

#include "server/trace/trace_links.h"

namespace stepscope {

// The device work of a window once more, with some of it shorter.
//
// What began when in the recording tells what waited for what: device work waits for its launch and
// for the work before it in its stream, the host waits in calls that synchronize, and for data. The
// time that no such wait explains is kept as it was, so that a replay without a change is the
// recording, to the nanosecond. (The way of Daydream, USENIX ATC 2020, and dPRO, MLSys 2022.)

// What is left of each kind of time: 1 all, 0 nothing.
struct ReplayChange {
  double computing = 1, communication = 1, copies = 1;  // work of devices
  double data = 1;                                      // waits of the host for data
  double host = 1;                                      // time of the host outside of its waits
  std::uint32_t kernel = 0;                             // a name: its kernels take `kernel_left`
  double kernel_left = 1;
  bool without_syncs = false;     // the host waits for no work of a device
  bool without_launches = false;  // no work of a device waits for the host
};

// Which waits between streams there are: profilers do not record them.
enum class StreamWaits {
  kSeen,      // work waits for all that had ended before it began
  kExpected,  // only work that began within 10 us of another stream's, and that nothing else kept
};

inline constexpr std::size_t kMostReplayedWork = 1'000'000;

// Refers to the trace, which must outlive it.
class Replay {
 public:
  explicit Replay(const TraceLinks& links);

  // Steps that have work of a device.
  std::size_t steps() const { return steps_; }
  // From the begin of the first work that was launched in a step to the end of the last, in
  // nanoseconds; 0 without steps, and beyond kMostReplayedWork.
  std::int64_t Recorded() const { return recorded_ns_; }
  std::int64_t Run(const ReplayChange& change, StreamWaits waits) const;

 private:
  static constexpr std::uint32_t kNone = TraceLinks::kNone;

  struct Work {
    std::uint32_t span = 0;
    std::int64_t start_ns = 0, end_ns = 0;
    std::int64_t launch_ns = -1;   // the begin of its launch; -1: not known
    std::uint32_t before = kNone;  // the work before it in its stream
    std::uint32_t other = kNone;   // of another stream, that it is expected to have waited for
    std::uint32_t seen = 0;        // so many of by_end_ had ended, the first ones
  };
  // A stretch in which the host waited, for data or for work of a device.
  struct Wait {
    std::int64_t begin_ns = 0, end_ns = 0;
    std::uint32_t work = kNone;  // the work that it waited for; none: it was for data
    bool for_begin = false;      // the work made room in a full queue; else it ended
    std::int64_t others_ns = 0;  // of other threads' operators meanwhile, which take their time
  };
  // Launches and begins of work by time, one for each launch: their difference is the queue.
  struct Queue {
    std::vector<std::int64_t> launched_ns, begun_ns;
  };
  class Player;

  void CollectWork(const TraceLinks& links);
  void LinkWork();
  void CollectWaits(const TraceLinks& links);
  Queue CollectQueue(const TraceLinks& links) const;
  void AddWaits(const TraceLinks& links, const Queue& queue, std::uint16_t track);
  std::uint32_t WorkOfWait(const TraceLinks& links, const TraceSpan& call) const;
  std::uint32_t WorkThatMadeRoom(const Queue& queue, const TraceSpan& call) const;
  std::int64_t LaunchedAt(const Work& work) const;
  std::int64_t AfterBefore(const Work& work) const;

  const Trace& trace_;
  std::vector<Work> work_;                                   // by start
  std::vector<std::uint32_t> by_end_;                        // indices into work_
  std::unordered_map<std::uint32_t, std::uint32_t> copies_;  // by correlation, indices into work_
  std::vector<Wait> waits_;                                  // by begin; none overlaps another
  std::int64_t launch_delay_ns_ = 0;  // the shortest from a launch to its work
  std::int64_t recorded_ns_ = 0;
  std::size_t steps_ = 0;
};

}  // namespace stepscope
