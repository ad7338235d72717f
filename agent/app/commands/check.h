#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "agent/app/options/common_options.h"
#include "agent/app/options/spool_options.h"
#include "core/base/clock.h"

namespace stepscope {

// The results of `stepscope-agent check`, a line for each thing that it checks.
enum class CheckResult {
  kFine,
  kAbsent,  // not here, or not configured
  kNote,    // works, with a remark
  kWrong,   // configured, and does not work
};
std::string_view ToText(CheckResult finding);

struct CheckLine {
  std::string area, name;
  CheckResult finding = CheckResult::kFine;
  std::string text;
};
using CheckLines = std::vector<CheckLine>;

// Checks each collector and counts its series, lists the GPUs, and measures a tick. Takes about a
// second, and longer where a GPU's driver is slow to start.
void CheckMachine(const std::string& root, const Clock& clock, CheckLines& lines);

// Measures what each source costs, and each call into NVIDIA's driver. Lives through two minutes of
// ticks without their waits, which takes some 100 ms, and longer where calls are dear.
void CheckCost(const SamplingOptions& sampling, const Clock& clock, CheckLines& lines);

// Checks whether training processes can connect, and what names a job here.
void CheckTraining(const Clock& clock, CheckLines& lines);

// Checks whether the hooks come into the Python of `command`, or into python3 where that is none:
// starts it, with a script of ours, for some 10 ms.
void CheckPython(const std::vector<std::string>& command, const Clock& clock, CheckLines& lines);

// Checks the spool, where samples wait while the service is away. Creates nothing.
void CheckSpool(const SpoolOptions& options, CheckLines& lines);

// Checks the service, the token and the clocks; absent without a server in the options.
void CheckService(const UplinkOptions& options, const Clock& clock, CheckLines& lines);

// Text for people: areas with their lines, and a closing sentence.
std::string ToPlainText(const CheckLines& lines);
std::string ToJsonText(const CheckLines& lines, std::string_view version);

bool AllIsWell(const CheckLines& lines);

}  // namespace stepscope
