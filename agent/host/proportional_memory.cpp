#include "agent/host/proportional_memory.h"

#include <algorithm>
#include <utility>

#include "agent/collect/scan.h"
#include "agent/host/process_files.h"
#include "core/base/cpu_time.h"

namespace stepscope {
namespace {

constexpr Duration kProportionalMemoryPeriod = 60s;
constexpr int kShare = 2000;  // at most this part of the time is spent reading
// The walk takes 10 ms for 1 GiB, and old kernels let the process map no memory meanwhile.
constexpr std::uint64_t kLargestBytes = 8ull << 30;

}  // namespace

std::optional<std::uint64_t> ParseProportional(std::string_view text) {
  std::string_view line;
  while (TakeLine(text, line)) {
    if (TakeWord(line) != "Pss:") continue;
    const auto kib = TakeNumber(line);
    if (!kib || *kib > UINT64_MAX / 1024) return std::nullopt;
    return *kib * 1024;
  }
  return std::nullopt;
}

bool ProportionalMemory::Due(SteadyTime now) const {
  return !waiting_ && now >= next_;
}

void ProportionalMemory::Ask(const Groups& groups, SteadyTime now) {
  next_ = now + kProportionalMemoryPeriod;
  waiting_ = true;
  state_.Change([&](State& state) {
    state.groups = groups;
    state.asked = true;
  });
  if (worker_.started()) return;
  worker_ = Worker("memory", [this](std::stop_token stop) { Run(std::move(stop)); });
}

bool ProportionalMemory::Take(SteadyTime now, Groups& groups) {
  if (!waiting_ || !state_.Read([](const State& state) { return state.done; })) return false;
  waiting_ = false;
  state_.Change([&](State& state) {
    groups = state.groups;
    next_ = std::max(next_, now + kShare * state.used);
    state.asked = state.done = false;
  });
  return true;
}

void ProportionalMemory::Run(std::stop_token stop) {
  while (!stop.stop_requested()) {
    const auto ready = [](const State& state) { return state.asked && !state.done; };
    if (!state_.Wait(stop, kProportionalMemoryPeriod, ready)) continue;
    Groups groups = state_.Read([](const State& state) { return state.groups; });
    const Duration began = ThreadCpuTime();
    for (MemoryGroup& group : groups) group.bytes = BytesOf(group.pids, stop);
    state_.Change([&](State& state) {
      state.groups = std::move(groups);
      state.used = ThreadCpuTime() - began;
      state.done = true;
    });
  }
}

std::optional<double> ProportionalMemory::BytesOf(const std::vector<std::int64_t>& processes,
                                                  const std::stop_token& stop) const {
  double sum = 0;
  bool any = false;
  for (const std::int64_t pid : processes) {
    if (stop.stop_requested()) return std::nullopt;
    const auto resident = ResidentBytes(root_, pid);
    if (!resident) continue;  // the process has ended
    if (*resident > kLargestBytes) return std::nullopt;
    auto source = Source::Open(root_, ProcessFolder(pid) + "smaps_rollup");
    const auto text = TextOf(source);
    const auto bytes = text ? ParseProportional(*text) : std::nullopt;
    if (!bytes) return std::nullopt;
    sum += static_cast<double>(*bytes);
    any = true;
  }
  if (!any) return std::nullopt;
  return sum;
}

}  // namespace stepscope
