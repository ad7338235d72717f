#pragma once

#include <cstdint>
#include <string_view>
#include <utility>

namespace stepscope {

// What a window of operators and kernels says of the time of one rank (docs/windows.md). The parts
// of the time are seconds of its devices, or of its host where no device worked, and add up to
// `wall_s`.
struct WindowFacts {
  std::int64_t window = 0;
  int rank = 0;
  bool of_device = false;
  std::int64_t steps = 0;  // whole steps that it rests on
  double step_s = 0;       // mean length of a step
  double wall_s = 0;
  double computing_s = 0, communication_s = 0, copies_s = 0;  // the latter two: exposed
  double host_late_s = 0, host_sync_s = 0, host_data_s = 0;   // idle, since the host was late
  double short_gap_s = 0, other_idle_s = 0;
  // Parts of the copies' time that go to a device and come back; of the host's waits, the part in
  // calls that copy.
  double to_device = 0, to_host = 0, waits_in_copies = 0;
  double short_kernels = 0;  // share of kernels that run for less than 10 us

  // The numbers by their names in the trace's evidence.
  static constexpr std::pair<std::string_view, double WindowFacts::*> kNumbers[] = {
      {"step_seconds", &WindowFacts::step_s},
      {"wall_seconds", &WindowFacts::wall_s},
      {"to_device_share", &WindowFacts::to_device},
      {"to_host_share", &WindowFacts::to_host},
      {"waits_in_copies_share", &WindowFacts::waits_in_copies},
      {"short_kernel_share", &WindowFacts::short_kernels},
  };
  static constexpr std::pair<std::string_view, double WindowFacts::*> kParts[] = {
      {"computing", &WindowFacts::computing_s},
      {"exposed_communication", &WindowFacts::communication_s},
      {"exposed_copies", &WindowFacts::copies_s},
      {"host_late", &WindowFacts::host_late_s},
      {"host_sync", &WindowFacts::host_sync_s},
      {"host_data", &WindowFacts::host_data_s},
      {"short_gap", &WindowFacts::short_gap_s},
      {"other_idle", &WindowFacts::other_idle_s},
  };
};

}  // namespace stepscope
