// Writes the samples of a training cluster: as the pushes that agents would send, as rows for COPY
// and as the requests of other stores. All hold the same values, so the cost of storing them can be
// compared. A file may be a pipe: nothing is kept.

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <random>
#include <span>

#include "bench/peer_bodies.h"
#include "bench/plan.h"
#include "bench/series.h"
#include "bench/steps.h"
#include "core/base/text.h"
#include "core/model/metric.h"
#include "core/wire/frame.h"
#include "core/wire/table_codec.h"

namespace stepscope {
namespace {

constexpr std::int64_t kMicros = 1'000'000;

constexpr struct {
  std::string_view option;
  std::string (*body)(const Schema&, const Table&, const std::string& job, const std::string& node);
} kPeers[] = {
    {"--import", ImportLines}, {"--remote-write", RemoteWrite}, {"--influx", InfluxLines}};

struct Node {
  std::string name, job;
  Session session = NewSession();
  std::uint64_t sequence = 0;
  std::vector<SampledSeries> series;
  Table pending;
  std::vector<SampledSteps> steps;  // steps of its ranks
};

std::int64_t DeviceCount(DeviceKind kind, const Plan& plan) {
  switch (kind) {
    case DeviceKind::kNode:
      return 1;
    case DeviceKind::kCpu:
      return plan.cores;
    case DeviceKind::kGpu:
      return plan.gpus;
    case DeviceKind::kDisk:
    case DeviceKind::kNetwork:
      return 4;
    case DeviceKind::kRank:
      break;  // its steps are generated, its processes are not
  }
  return 0;
}

std::vector<Metric> MetricsOf(const Plan& plan) {
  if (!plan.all_metrics && plan.metric.empty()) return SampledMetrics();
  return {Metrics().begin(), Metrics().end()};
}

Schema MakeSchema(const Plan& plan) {
  Schema schema;
  schema.columns.push_back({"at_us", ""});
  for (const Metric& metric : MetricsOf(plan)) {
    if (!plan.metric.empty() && metric.name != plan.metric) continue;
    for (std::int64_t device = 0; device < DeviceCount(metric.device, plan); ++device) {
      const bool node = metric.device == DeviceKind::kNode;
      schema.columns.push_back(
          {std::string(metric.name), node ? "" : Format("{}{}", ToText(metric.device), device)});
    }
  }
  return schema;
}

Node MakeNode(std::int64_t number, const Schema& schema, const Plan& plan,
              std::mt19937_64& random) {
  Node node;
  node.name = Format("node-{}", number);
  node.job = plan.job_each ? Format("{}-{}", plan.job, number) : plan.job;
  for (std::size_t column = 1; column < schema.columns.size(); ++column) {
    node.series.emplace_back(*FindMetric(schema.columns[column].metric), random);
  }
  node.pending.columns.resize(schema.columns.size());
  for (std::int64_t rank = number * plan.ranks; rank < (number + 1) * plan.ranks; ++rank) {
    node.steps.emplace_back(static_cast<std::int32_t>(rank), plan.step_us, plan.begin_us);
  }
  return node;
}

std::string TimeText(std::int64_t at_us) {
  const std::time_t seconds = at_us / kMicros;
  std::tm parts{};
  gmtime_r(&seconds, &parts);
  char text[32];
  const std::size_t size = std::strftime(text, sizeof text, "%Y-%m-%d %H:%M:%S", &parts);
  return Format("{}.{:06}+00", std::string_view(text, size), at_us % kMicros);
}

// Takes one tick of a node into its pending table and writes it as rows.
void AddTick(Node& node, std::int64_t number, std::int64_t at_us, std::ofstream& rows) {
  const std::string time = rows.is_open() ? TimeText(at_us) : "";
  node.pending.columns[0].values.push_back(at_us);
  std::string text;
  for (std::size_t index = 0; index < node.series.size(); ++index) {
    Column& column = node.pending.columns[index + 1];
    column.scale = node.series[index].scale();
    column.values.push_back(node.series[index].Next());
    if (!rows.is_open()) continue;
    const auto series =
        number * static_cast<std::int64_t>(node.series.size()) + static_cast<std::int64_t>(index);
    text += Format("{}\t{}\t{}\n", time, series, column.At(column.values.size() - 1));
  }
  ++node.pending.rows;
  rows << text;
}

Frame NextFrame(Node& node, FrameKind kind, std::int64_t at_us) {
  Frame frame;
  frame.head.kind = kind;
  frame.head.session = node.session;
  frame.head.sequence = ++node.sequence;
  frame.head.created = FromMicros(at_us);
  frame.head.job = node.job;
  frame.head.node = node.name;
  return frame;
}

std::string StartedFrame(Node& node, const Plan& plan) {
  Frame frame = NextFrame(node, FrameKind::kLifecycle, plan.begin_us);
  std::string gpus;
  for (std::int64_t gpu = 0; gpu < plan.gpus; ++gpu) gpus += gpu == 0 ? R"("GPU")" : R"(,"GPU")";
  frame.payload = Format(
      R"({{"event":"started","at_us":{},"group":"","interval_ms":{},"command":["train"],"facts":{{"cores":{},"gpus":[{}]}}}})",
      plan.begin_us, plan.tick_us / 1000, plan.cores, gpus);
  return EncodeFrame(frame);
}

void AppendTable(std::string& push, Frame frame, const Schema& schema, const Table& table,
                 bool first) {
  frame.head.schema_hash = HashSchema(schema);
  if (first) frame.schema = schema;
  frame.payload = EncodeTable(table);
  AppendToPush(push, EncodeFrame(frame));
}

// The pending ticks as one push, with the steps of its time. Schemas ride along in a node's first.
std::string CutPush(Node& node, const Schema& schema, const Plan& plan, std::int64_t at_us) {
  std::string push;
  const bool first = node.sequence == 0;
  if (first) AppendToPush(push, StartedFrame(node, plan));
  AppendTable(push, NextFrame(node, FrameKind::kTicks, at_us), schema, node.pending, first);
  for (SampledSteps& steps : node.steps) {
    const Table table = steps.Until(at_us);
    if (table.rows == 0) continue;
    AppendTable(push, NextFrame(node, FrameKind::kSteps, at_us), steps.schema(), table,
                table.columns[0].values[0] == 0);
  }
  return push;
}

void WritePush(std::ofstream& out, std::int64_t node, const std::string& push) {
  const std::uint32_t head[] = {static_cast<std::uint32_t>(node),
                                static_cast<std::uint32_t>(push.size())};
  out.write(reinterpret_cast<const char*>(head), sizeof head);
  out.write(push.data(), static_cast<std::streamsize>(push.size()));
}

std::ofstream Open(const std::string& path) {
  return path.empty() ? std::ofstream() : std::ofstream(path, std::ios::binary);
}

// The files that the samples go to; files that were not asked for stay closed.
struct Files {
  explicit Files(const Arguments& paths)
      : frames(Open(paths["--frames"])), rows(Open(paths["--rows"])) {
    for (const auto& peer : kPeers) peers.push_back(Open(paths[peer.option]));
  }
  bool good() const {
    return frames.good() && rows.good() && std::ranges::all_of(peers, &std::ofstream::good);
  }

  std::ofstream frames, rows;
  std::vector<std::ofstream> peers;
};

void WritePending(Node& node, std::int64_t number, const Schema& schema, const Plan& plan,
                  std::int64_t at_us, Files& files) {
  for (std::size_t peer = 0; peer < std::size(kPeers); ++peer) {
    if (!files.peers[peer].is_open()) continue;
    WritePush(files.peers[peer], number,
              kPeers[peer].body(schema, node.pending, plan.job, node.name));
  }
  if (files.frames.is_open()) WritePush(files.frames, number, CutPush(node, schema, plan, at_us));
  node.pending = Table{};
  node.pending.columns.resize(schema.columns.size());
}

bool Write(const Plan& plan, const Arguments& paths) {
  Files files(paths);
  std::mt19937_64 random(1);  // always the same samples
  const Schema schema = MakeSchema(plan);
  std::vector<Node> nodes;
  for (std::int64_t number = 0; number < plan.nodes; ++number) {
    nodes.push_back(MakeNode(number, schema, plan, random));
  }
  std::int64_t pushes = 0;
  for (std::int64_t tick = 0; tick < plan.ticks && files.good(); ++tick) {
    const std::int64_t at_us = plan.begin_us + tick * plan.tick_us;
    const bool cut = (tick + 1) % plan.ticks_per_push == 0 || tick + 1 == plan.ticks;
    for (std::int64_t number = 0; number < plan.nodes; ++number) {
      Node& node = nodes[static_cast<std::size_t>(number)];
      AddTick(node, number, at_us, files.rows);
      if (!cut) continue;
      WritePending(node, number, schema, plan, at_us, files);
      ++pushes;
    }
  }
  const auto series = static_cast<std::int64_t>(schema.columns.size() - 1);
  std::printf(R"({"series":%lld,"samples":%lld,"pushes":%lld})"
              "\n",
              static_cast<long long>(series * plan.nodes),
              static_cast<long long>(series * plan.nodes * plan.ticks),
              static_cast<long long>(pushes));
  return files.good();
}

int Main(std::span<const char* const> args) {
  const Result<Arguments> arguments = ParseArguments(PlanOptions(), args);
  if (arguments && arguments->help) {
    std::fputs(OptionsHelp(PlanOptions()).c_str(), stdout);
    return 0;
  }
  const Result<Plan> plan = arguments ? ReadPlan(*arguments) : Result<Plan>(arguments.error());
  if (!plan) {
    std::fprintf(stderr, "make_frames: %s\n", plan.error().message.c_str());
    return 2;
  }
  if (Write(*plan, *arguments)) return 0;
  std::fputs("make_frames: cannot write the files\n", stderr);
  return 1;
}

}  // namespace
}  // namespace stepscope

int main(int count, char** words) {
  return stepscope::Main({words + 1, static_cast<std::size_t>(count - 1)});
}
