#pragma once

#include <initializer_list>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "agent/app/options/allowed.h"
#include "agent/send/uplink.h"
#include "core/base/log.h"
#include "core/base/options.h"
#include "core/base/result.h"
#include "core/base/time.h"

namespace stepscope {

// The options that several commands have, in groups: a command names the groups that it wants, and
// reads what is in them with the function beside.

// Where the service is, and how to show who we are. ReadUplink demands --server; it also reads
// kTokenVariable, which goes before a token file that only the configuration file names.
std::span<const Option> UplinkRows();
Result<UplinkOptions> ReadUplink(const Arguments& arguments);

// Holds the token where no file can; nobody but the agent gets to see it.
inline constexpr const char* kTokenVariable = "STEPSCOPE_TOKEN";

// How the machine is sampled.
struct SamplingOptions {
  Duration interval = 500ms;
  std::string root{};  // empty: the node's own
};
std::span<const Option> SamplingRows();
Result<SamplingOptions> ReadSampling(const Arguments& arguments);

// How often what was sampled is sent, and what the service may ask for in its answers: --push and
// --allow.
std::span<const Option> PushRows();
Result<Duration> ReadPush(const Arguments& arguments);
Result<Allowed> ReadAllowed(const Arguments& arguments);

// The host's name as one that a node may have.
std::string HostName();

// What this machine is called: --node, the launcher's name, the host name.
std::span<const Option> NodeRows();
std::string ReadNode(const Arguments& arguments, const std::string& launcher_says);

// --config and --log-level: every command has these.
std::span<const Option> EveryRows();
Result<LogLevel> ReadLog(const Arguments& arguments);

// One table of several groups.
std::vector<Option> JoinRows(std::initializer_list<std::span<const Option>> groups);

// A duration within bounds; the error names where the option was set.
Result<Duration> ReadDuration(const Arguments& arguments, std::string_view name, Duration least,
                              Duration most);

// The value of a variable of the environment; "" when it is not set.
std::string Variable(std::string_view name);

}  // namespace stepscope
