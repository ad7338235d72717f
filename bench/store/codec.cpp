// Measures a codec on the samples of a training cluster: bytes and CPU time, for each kind of
// series. A column is 600 s of one series, as in a block. Fails when a value does not come back.

#include <algorithm>
#include <bit>
#include <cstdio>
#include <map>

#include "bench/series.h"
#include "bench/store/codecs.h"
#include "core/base/cpu_time.h"
#include "core/base/options.h"
#include "core/base/text.h"

namespace stepscope {
namespace {

constexpr Option kOptions[] = {
    {"--codec", "NAME", "", "The codec; its names when left out."},
    {"--nodes", "N", "8", "Nodes with 64 cores and 8 GPUs each."},
    {"--blocks", "N", "6", "Blocks of 600 s of each series."},
    {"--rows", "N", "1200", "Samples of a block: 1,200 are 2 Hz."},
};

constexpr std::string_view kAll = "all";

struct Cost {
  std::int64_t samples = 0, bytes = 0, encode_ns = 0, decode_ns = 0;
};
using Costs = std::map<std::string_view, Cost>;  // columns by kind of series

struct Plan {
  const Codec* codec = nullptr;
  std::int64_t nodes = 0, blocks = 0, rows = 0;
};

std::string_view KindOf(const Metric& metric, Course course) {
  if (course == Course::kConstant) return "constants";
  if (metric.device == DeviceKind::kGpu) return "GPUs";
  if (course == Course::kCore) return "cores";
  if (course == Course::kPages) return "pages";
  return course == Course::kBursts ? "bursts" : "smooth";
}

int CountOf(DeviceKind device) {
  if (device == DeviceKind::kNode) return 1;
  if (device == DeviceKind::kCpu) return 64;
  return device == DeviceKind::kGpu ? 8 : 4;
}

Column NextColumn(SampledSeries& series, const Plan& plan) {
  Column column;
  column.scale = series.scale();
  for (std::int64_t row = 0; row < plan.rows; ++row) column.values.push_back(series.Next());
  if (!plan.codec->doubles) return column;
  for (std::size_t row = 0; row < column.values.size(); ++row) {
    column.values[row] = std::bit_cast<std::int64_t>(column.At(row));
  }
  return column;
}

// Measures all columns of one series; false when a value did not come back.
bool Measure(SampledSeries series, const Plan& plan, std::initializer_list<Cost*> costs) {
  for (std::int64_t block = 0; block < plan.blocks; ++block) {
    const Column column = NextColumn(series, plan);
    const Duration began = ThreadCpuTime();
    const std::string bytes = plan.codec->encode(column);
    const Duration encoded = ThreadCpuTime();
    const auto values = plan.codec->decode(bytes, column.values.size());
    const Duration decoded = ThreadCpuTime();
    if (values != column.values) return false;
    for (Cost* cost : costs) {
      cost->samples += plan.rows;
      cost->bytes += static_cast<std::int64_t>(bytes.size());
      cost->encode_ns += (encoded - began).count();
      cost->decode_ns += (decoded - encoded).count();
    }
  }
  return true;
}

bool MeasureAll(const Plan& plan, Costs& costs) {
  std::mt19937_64 random(1);  // makes equal samples in each run
  for (std::int64_t node = 0; node < plan.nodes; ++node) {
    for (const Metric& metric : SampledMetrics()) {
      for (int device = 0; device < CountOf(metric.device); ++device) {
        const SampledSeries series(metric, random);
        Cost& own = costs[KindOf(metric, series.course())];
        if (Measure(series, plan, {&own, &costs[kAll]})) continue;
        std::fprintf(stderr, "codec: %s does not come back\n", metric.name.data());
        return false;
      }
    }
  }
  return true;
}

// Values that no machine measures: all bits at random, after some of each size.
bool AnyValuesComeBack(const Codec& codec) {
  std::mt19937_64 random(2);
  for (int round = 0; round < 1000; ++round) {
    Column column;
    const auto rows = 1 + random() % 100;
    for (std::uint64_t row = 0; row < rows; ++row) {
      column.values.push_back(static_cast<std::int64_t>(random() >> (random() % 64)));
    }
    if (codec.decode(codec.encode(column), column.values.size()) != column.values) return false;
  }
  return true;
}

void Print(const Costs& costs) {
  std::string lines;
  for (const auto& [kind, cost] : costs) {
    lines += lines.empty() ? "" : ",\n";
    lines += Format(R"({{"kind":"{}","samples":{},"bytes":{},"encode_ns":{},"decode_ns":{}}})",
                    kind, cost.samples, cost.bytes, cost.encode_ns, cost.decode_ns);
  }
  std::printf("[%s]\n", lines.c_str());
}

void PrintNames() {
  std::string names;
  for (const Codec& codec : Codecs()) {
    names += Format(R"({}"{}")", names.empty() ? "" : ",", codec.name);
  }
  std::printf("[%s]\n", names.c_str());
}

Result<Plan> ReadPlan(const Arguments& arguments) {
  Plan plan;
  const std::span<const Codec> codecs = Codecs();
  const auto found = std::ranges::find(codecs, arguments["--codec"], &Codec::name);
  if (found == codecs.end()) return Invalid("--codec: not known");
  plan.codec = &*found;
  const std::pair<std::string_view, std::int64_t*> numbers[] = {
      {"--nodes", &plan.nodes}, {"--blocks", &plan.blocks}, {"--rows", &plan.rows}};
  for (const auto& [option, place] : numbers) {
    const Result<std::int64_t> number = ParseInt(arguments[option], option);
    if (!number) return number.error();
    *place = *number;
  }
  return plan;
}

int Main(std::span<const char* const> args) {
  const Result<Arguments> arguments = ParseArguments(kOptions, args);
  if (arguments && arguments->help) {
    std::fputs(OptionsHelp(kOptions).c_str(), stdout);
    return 0;
  }
  if (arguments && (*arguments)["--codec"].empty()) {
    PrintNames();
    return 0;
  }
  const Result<Plan> plan = arguments ? ReadPlan(*arguments) : Result<Plan>(arguments.error());
  if (!plan) {
    std::fprintf(stderr, "codec: %s\n", plan.error().message.c_str());
    return 2;
  }
  if (!AnyValuesComeBack(*plan->codec)) {
    std::fputs("codec: values at random do not come back\n", stderr);
    return 1;
  }
  Costs costs;
  if (!MeasureAll(*plan, costs)) return 1;
  Print(costs);
  return 0;
}

}  // namespace
}  // namespace stepscope

int main(int count, char** words) {
  return stepscope::Main({words + 1, static_cast<std::size_t>(count - 1)});
}
