// CheckMachine and CheckTraining of check.h.

#include <poll.h>
#include <unistd.h>

#include <algorithm>
#include <iterator>
#include <memory>
#include <utility>

#include "agent/app/commands/check.h"
#include "agent/collect/collector.h"
#include "agent/collect/source.h"
#include "agent/host/process_limits.h"
#include "agent/launch/launcher.h"
#include "agent/launch/openable_gpus.h"
#include "agent/launch/process_gpus.h"
#include "agent/launch/process_start.h"
#include "agent/marks/intake.h"
#include "core/base/text.h"

namespace stepscope {
namespace {

constexpr int kTicks = 11;
constexpr Duration kBetweenTicks = 50ms;
constexpr Duration kSlowestSource = 10s;
constexpr Duration kLongestStart = 10s;  // for a GPU's driver

// A running collector with a row of its own, so that its series can be counted.
struct Running {
  std::string_view name;
  TickRow row;
  std::unique_ptr<Collector> collector;
  Status last;
};

void Pause(Duration duration) {
  poll(nullptr, 0, static_cast<int>(duration / 1ms));
}

std::vector<Running> StartAll(const std::string& root, CheckLines& lines) {
  std::vector<Running> running;
  for (const CollectorKind& kind : CollectorTable()) {
    Running one{.name = kind.name, .row = {}, .collector = {}, .last = {}};
    auto collector = kind.make(root, one.row);
    if (collector) {
      one.collector = std::move(*collector);
      running.push_back(std::move(one));
    } else {
      lines.push_back({"machine", std::string(kind.name), CheckResult::kAbsent,
                       Printable(collector.error().message)});
    }
  }
  return running;
}

bool IsStarting(const std::vector<Running>& running) {
  return std::ranges::any_of(running, [](const auto& one) { return one.collector->Starting(); });
}

Duration Tick(std::vector<Running>& running, const Clock& clock) {
  const SteadyTime begin = clock.Steady();
  for (Running& one : running) {
    one.row.Clear();
    one.last = one.collector->Collect(clock.Steady(), one.row);
  }
  return clock.Steady() - begin;
}

// Reads at a time in the future, which spares the user a wait: some sources are read every few
// seconds and have rates from their second reading on. Their values are not used. GPUs are read at
// each tick, and would miss their driver's answer.
void ReadSlowSources(std::vector<Running>& running, const Clock& clock) {
  for (Running& one : running) {
    if (!one.collector->Gpus().empty() || one.collector->Starting()) continue;
    one.row.Clear();
    one.last = one.collector->Collect(clock.Steady() + kSlowestSource, one.row);
  }
}

// The median of some ticks, so that one disturbance does not count.
Duration MeasureTick(std::vector<Running>& running, const Clock& clock) {
  const SteadyTime patience = clock.Steady() + kLongestStart;
  while (IsStarting(running) && clock.Steady() < patience) Pause(kBetweenTicks);
  std::vector<Duration> ticks;
  Tick(running, clock);
  for (int i = 0; i < kTicks; ++i) {
    Pause(kBetweenTicks);
    ticks.push_back(Tick(running, clock));
  }
  ReadSlowSources(running, clock);
  std::ranges::nth_element(ticks, ticks.begin() + kTicks / 2);
  return ticks[kTicks / 2];
}

CheckLine LineOf(const Running& one) {
  const std::string name(one.name);
  if (!one.last.ok()) {
    return {"machine", name, CheckResult::kWrong, Printable(one.last.error().message)};
  }
  if (one.collector->Starting()) {
    return {"machine", name, CheckResult::kNote, "the driver has not answered yet"};
  }
  if (one.row.size() == 0) return {"machine", name, CheckResult::kAbsent, "gives no series here"};
  return {"machine", name, CheckResult::kFine, Format("{} series", one.row.size())};
}

// The version of the kernel's part of the driver; "" when it is not known.
std::string DriverVersion(const std::string& root, const std::string& device) {
  if (!device.starts_with("gpu")) return "";
  auto source = Source::Open(root, "/sys/module/nvidia/version");
  if (!source) return "";
  const auto text = source->Read();
  return text ? Printable(Trim(*text), 40) : "";
}

CheckLine LineOf(const GpuFacts& gpu, const std::string& root) {
  std::string text = gpu.name.empty() ? "a GPU without a name" : Printable(gpu.name);
  if (gpu.memory_bytes != 0) text += Format(", {} MiB", gpu.memory_bytes >> 20);
  if (gpu.mig.value_or(false)) text += ", split by MIG: its own utilisation is not known";
  const std::string driver = DriverVersion(root, gpu.device);
  if (!driver.empty()) text += Format(", driver {}", driver);
  return {"machine", Printable(gpu.device, 40), CheckResult::kFine, text};
}

// What a command that is started here may use.
CheckLine LimitsLine(const std::string& root, const std::vector<GpuFacts>& gpus) {
  const ProcessLimits limits = ReadProcessLimits(root, {getpid()}, CgroupTop::kCounts);
  if (limits.cores == 0) return {"machine", "limits", CheckResult::kAbsent, "are not known"};
  std::string text = Format("a command here may use {} of {} cores", limits.cores,
                            std::max(1L, sysconf(_SC_NPROCESSORS_ONLN)));
  if (limits.cpu_quota) text += Format(" (a quota of {:.2f})", *limits.cpu_quota);
  if (limits.memory_bytes) text += Format(" and {} MiB of memory", *limits.memory_bytes >> 20);
  const auto given = GpusOfProcess(OwnVariable, OwnVariable("CUDA_VISIBLE_DEVICES"), gpus,
                                   OpenableGpus(root, 0, gpus));
  if (!gpus.empty()) text += Format(", and {} of {} GPUs", given.size(), gpus.size());
  if (given.size() < gpus.size()) {
    for (const std::string& device : given)
      text += Format("{}{}", &device == given.data() ? ": " : ", ", Printable(device, 40));
  }
  return {"machine", "limits", CheckResult::kFine, text};
}

CheckLine LauncherLine() {
  const LaunchNames names = NamesOfLaunch(Variable);
  if (names.launcher.empty()) {
    return {"training", "launcher", CheckResult::kAbsent,
            Format("none of {} here: name runs with --job", KnownLaunchers())};
  }
  return {"training", "launcher", CheckResult::kFine,
          Format("{}: a run here would be job {}", names.launcher, names.job)};
}

CheckLine SocketLine(const Clock& clock) {
  IntakeOptions options;
  const auto path = DefaultSocketPath(Format("check-{}", getpid()));
  if (!path) return {"training", "socket", CheckResult::kWrong, path.error().message};
  options.socket_path = *path;
  const auto intake = Intake::Start(options, clock);
  if (!intake) return {"training", "socket", CheckResult::kWrong, intake.error().message};
  const std::string folder = path->substr(0, path->rfind('/'));
  return {"training", "socket", CheckResult::kFine,
          Format("training processes of this user can connect, in {}", folder)};
}

}  // namespace

void CheckMachine(const std::string& root, const Clock& clock, CheckLines& lines) {
  CheckLines absent;
  std::vector<Running> running = StartAll(root, absent);
  const Duration tick = MeasureTick(running, clock);
  std::size_t series = 0;
  std::vector<GpuFacts> gpus;
  for (const Running& one : running) {
    lines.push_back(LineOf(one));
    series += one.row.size();
    for (const GpuFacts& gpu : one.collector->Gpus()) {
      lines.push_back(LineOf(gpu, root));
      gpus.push_back(gpu);
    }
  }
  std::ranges::move(absent, std::back_inserter(lines));
  lines.push_back(LimitsLine(root, gpus));
  lines.push_back({"machine", "one tick", CheckResult::kFine,
                   Format("{} series in {} us", series, tick / 1us)});
}

void CheckTraining(const Clock& clock, CheckLines& lines) {
  lines.push_back(SocketLine(clock));
  lines.push_back(LauncherLine());
  const std::string kineto = KinetoNote(Variable);
  if (!kineto.empty()) lines.push_back({"training", "kineto", CheckResult::kNote, kineto});
}

}  // namespace stepscope
