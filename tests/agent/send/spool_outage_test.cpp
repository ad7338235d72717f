// Three days without the service: 200 series every 500 ms within 64 MiB. STEPSCOPE_OUTAGE_HOURS
// sets the hours that are run, and the bytes with them.

#include <cstdlib>
#include <list>

#include "bench/series.h"
#include "core/base/log.h"
#include "tests/agent/send/spool_world.h"

namespace stepscope {
namespace {

using test::SpoolWorld;

constexpr std::size_t kSeries = 200;
constexpr double kWholeOutageHours = 72;

// The series of a node with 64 cores and 8 GPUs.
std::list<SampledSeries> NodeSeries(std::mt19937_64& random) {
  std::list<SampledSeries> series;
  for (const Metric& metric : SampledMetrics()) {
    std::size_t count = metric.device == DeviceKind::kNode ? 1 : 4;
    if (metric.device == DeviceKind::kCpu) count = 64;
    if (metric.device == DeviceKind::kGpu) count = 8;
    while (count-- > 0 && series.size() < kSeries) series.emplace_back(metric, random);
  }
  return series;
}

struct Node {
  Node() : series(NodeSeries(random)) {
    schema.columns = {{"at_us", ""}};
    for (std::size_t i = 0; i < series.size(); ++i) {
      schema.columns.push_back({"user.series_" + std::to_string(i), "device" + std::to_string(i)});
    }
    hash = HashSchema(schema);
  }
  // Cuts four ticks, as the agent does at each push.
  void Cut(SpoolWorld& world) {
    Table table;
    table.rows = 4;
    table.columns.resize(1 + series.size());
    for (std::size_t row = 0; row < table.rows; ++row) {
      table.columns[0].values.push_back(ToMicros(world.clock.Now()));
      std::size_t column = 1;
      for (SampledSeries& each : series) {
        table.columns[column].scale = each.scale();
        table.columns[column++].values.push_back(each.Next());
      }
      world.clock.Advance(500ms);
    }
    world.live.stream->Append({.kind = FrameKind::kTicks,
                               .payload = EncodeTable(table),
                               .schema = &schema,
                               .schema_hash = hash,
                               .from_us = table.columns[0].values.front(),
                               .to_us = table.columns[0].values.back(),
                               .samples = table.rows * series.size()});
  }

  std::mt19937_64 random{7};
  std::list<SampledSeries> series;
  Schema schema;
  std::uint64_t hash = 0;
};

TEST(SpoolOutage, OfThreeDaysFitsIntoTheSpool) {
  const char* given = std::getenv("STEPSCOPE_OUTAGE_HOURS");
  const double hours = given != nullptr ? std::atof(given) : 4;
  SpoolWorld world(1);
  world.service.up = false;
  Node node;
  ASSERT_EQ(node.series.size(), kSeries);
  for (double cuts = hours * 1800; cuts > 0; --cuts) {
    node.Cut(world);
    ASSERT_TRUE(world.Store() || !world.live.stream->away());
  }
  ASSERT_TRUE(world.live.stream->HandOver());
  EXPECT_EQ(world.live.stream->figures().frames_lost, 0u);
  const double whole = static_cast<double>(world.files->used()) * kWholeOutageHours / hours;
  RecordProperty("bytes_of_72_hours", std::to_string(whole));
  std::printf("%.1f h take %.1f MiB, 72 h would take %.1f MiB\n", hours,
              static_cast<double>(world.files->used()) / kSegmentBytes, whole / kSegmentBytes);
  EXPECT_LT(whole, 63.0 * kSegmentBytes);
}

}  // namespace
}  // namespace stepscope
