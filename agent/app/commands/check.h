#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "agent/app/options/common_options.h"
#include "agent/app/options/spool_options.h"
#include "core/base/clock.h"

namespace stepscope {

// What `stepscope-agent check` found, one line a thing that it looked at.
enum class CheckResult {
  kFine,
  kAbsent,  // not here, or not asked for
  kNote,    // works, but somebody should know
  kWrong,   // was asked for and does not work
};
std::string_view ToText(CheckResult finding);

struct CheckLine {
  std::string area, name;
  CheckResult finding = CheckResult::kFine;
  std::string text;
};
using CheckLines = std::vector<CheckLine>;

// Each collector and what it gives, the GPUs, and what a tick costs. Takes about a second, and
// longer where a GPU's driver is slow to start.
void CheckMachine(const std::string& root, const Clock& clock, CheckLines& lines);

// Whether training processes can be heard, and what names a job here.
void CheckTraining(const Clock& clock, CheckLines& lines);

// Where samples wait while the service is away. Makes nothing there.
void CheckSpool(const SpoolOptions& options, CheckLines& lines);

// The service, the token and the clocks. No server: it was not asked for.
void CheckService(const UplinkOptions& options, const Clock& clock, CheckLines& lines);

// For people: areas with their lines, and the end of the matter in one sentence.
std::string ToPlainText(const CheckLines& lines);
std::string ToJsonText(const CheckLines& lines, std::string_view version);

bool AllIsWell(const CheckLines& lines);

}  // namespace stepscope
