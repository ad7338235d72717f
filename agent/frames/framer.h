#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

#include "agent/collect/tick_row.h"
#include "agent/marks/intake.h"
#include "agent/spool/frame_stream.h"
#include "core/base/guarded.h"
#include "core/base/time.h"
#include "core/model/table.h"

namespace stepscope {

// Gathers ticks until they are cut into a frame: at each push, when the frame is full, and when the
// set of series changes. Any thread. `stream` outlives it.
class TickFramer {
 public:
  explicit TickFramer(FrameStream& stream) : stream_(stream) {}

  void Add(Time at, const TickRow& row);

  // Makes a frame of the ticks gathered, if there are any.
  void Cut();

 private:
  // Tick behind tick, so that one more touches little memory; columns are made of them when they
  // are cut.
  struct Pending {
    Schema schema;
    std::uint64_t schema_hash = 0;
    std::vector<std::uint8_t> scales;  // of the series
    std::vector<std::int64_t> at_us;   // of each tick
    std::vector<std::int64_t> values;  // of each tick, of each series; so, too:
    std::vector<std::uint8_t> present;
    Time last{};    // of the newest tick, cut or not
    Column column;  // the one that is being written

    std::size_t rows() const { return at_us.size(); }
  };

  static const Column& ColumnOf(Pending& pending, std::size_t column);
  void CutPending(Pending& pending);

  FrameStream& stream_;
  Guarded<Pending> pending_;
};

// Turns what the training processes marked into frames: facts, steps, annotation statistics,
// spans of a window and its end. For one thread. `stream` outlives it.
class MarkFramer {
 public:
  explicit MarkFramer(FrameStream& stream) : stream_(stream) {}

  void Add(const IntakeBatch& batch);

 private:
  // The schemas of a rank only grow, so that few of them travel.
  struct Rank {
    std::vector<Phase> phases;
    std::vector<std::string> names;
    std::unordered_map<std::string, std::int64_t> index_of_name;
  };

  void AddSteps(std::int32_t rank, const std::vector<Step>& steps);
  void AddSpans(std::int32_t rank, const RankSpans& spans);
  void AddAnnotations(std::int32_t rank, std::span<const AnnotationStatistic> statistics);

  FrameStream& stream_;
  std::map<std::int32_t, Rank> ranks_;
};

}  // namespace stepscope
