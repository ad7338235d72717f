#pragma once

#include <cstdint>
#include <initializer_list>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "agent/app/options/allowed.h"
#include "agent/collect/reading_plan.h"
#include "agent/frames/secrets.h"
#include "agent/send/uplink.h"
#include "core/base/log.h"
#include "core/base/options.h"
#include "core/base/result.h"
#include "core/base/time.h"

namespace stepscope {

// The options that several commands have, in groups: a command names the groups that it wants, and
// reads their values with the function beside.

// The service's address, and the agent's credentials. ReadUplink reads kTokenVariable, too, which
// goes before a token file that only the configuration file names. Without --server it takes
// `server`.
std::span<const Option> UplinkRows();
Result<UplinkOptions> ReadUplink(const Arguments& arguments, const std::string& server = "");

// The variable that holds the token where no file can; the agent hides it from the command.
inline constexpr const char* kTokenVariable = "STEPSCOPE_TOKEN";

// Options of the sampling.
struct SamplingOptions {
  Duration interval = 500ms;
  std::string root{};                   // empty: the node's own root
  double core_share = kUsualCoreShare;  // CPU seconds a second that all sources may take
};
std::span<const Option> SamplingRows();
Result<SamplingOptions> ReadSampling(const Arguments& arguments);

// Steps of which each rank records operators, whatever the service asks for; none without a first
// step.
struct WindowSchedule {
  std::optional<std::int64_t> start_step{};
  std::int64_t num_steps = 5;
};

// --push, the time between pushes, --allow, the commands that the service may give, and --windows
// with --start-step and --num-steps, the windows of operators.
std::span<const Option> PushRows();
Result<Duration> ReadPush(const Arguments& arguments);
Result<Allowed> ReadAllowed(const Arguments& arguments);
Result<WindowSchedule> ReadSchedule(const Arguments& arguments);
// What a training process is asked so that it keeps to the schedule; "" without one.
std::string ToRequest(const WindowSchedule& schedule);

// --no-command and --hide: what of a command line stays on the node.
std::span<const Option> SecretRows();
Result<SecretOptions> ReadSecrets(const Arguments& arguments);

// The host's name, changed where a node's name may not be so.
std::string HostName();

// The name of this machine: --node, the launcher's name, or the host name.
std::span<const Option> NodeRows();
std::string ReadNode(const Arguments& arguments, const std::string& launcher_says);

// --config and --log-level: every command has these.
std::span<const Option> EveryRows();
Result<LogLevel> ReadLog(const Arguments& arguments);

// Joins several groups to one table.
std::vector<Option> JoinRows(std::initializer_list<std::span<const Option>> groups);

// A duration within bounds; the error names where the option was set.
Result<Duration> ReadDuration(const Arguments& arguments, std::string_view name, Duration least,
                              Duration most);

// The value of a variable of the environment; "" when it is not set.
std::string Variable(std::string_view name);

}  // namespace stepscope
