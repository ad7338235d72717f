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

// Collects ticks and cuts them into frames: at each push, when a frame is full, and when the set of
// series changes. Any thread. `stream` outlives it.
class TickFramer {
 public:
  explicit TickFramer(FrameStream& stream) : stream_(stream) {}

  void Add(Time at, const TickRow& row);

  // Makes a frame of the collected ticks, if there are any.
  void Cut();

 private:
  // The ticks one after the other, so that another tick touches little memory; they become columns
  // when they are cut.
  struct Pending {
    Schema schema;
    std::uint64_t schema_hash = 0;
    std::vector<std::uint8_t> scales;  // for each series
    std::vector<std::int64_t> at_us;   // for each tick
    std::vector<std::int64_t> values;  // for each tick, for each series; `present` too
    std::vector<std::uint8_t> present;
    Time last{};    // newest tick, cut or not
    Column column;  // the column that is being written

    std::size_t rows() const { return at_us.size(); }
  };

  static const Column& ColumnOf(Pending& pending, std::size_t column);
  void CutPending(Pending& pending);

  FrameStream& stream_;
  Guarded<Pending> pending_;
};

// Turns the marks of the training processes into frames: facts, steps, annotation statistics, spans
// of a window and its end. For one thread. `stream` outlives it.
class MarkFramer {
 public:
  explicit MarkFramer(FrameStream& stream) : stream_(stream) {}

  void Add(const IntakeBatch& batch);

 private:
  // The schemas of a rank only grow, so that few of them are sent.
  struct Rank {
    std::vector<std::size_t> times;  // of its steps, as StepTime numbers them
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
