#include "agent/app/options/spool_options.h"

#include <unistd.h>

#include <filesystem>

#include "agent/app/options/common_options.h"
#include "core/base/log.h"
#include "core/base/text.h"

namespace stepscope {
namespace {

constexpr Option kRows[] = {
    {"--spool", "DIR", "",
     "where samples wait while the service is away, 'none' for in memory only; by default "
     "/var/lib/stepscope-agent for root, else ~/.local/state/stepscope/HOST"},
    {"--spool-size", "SIZE", "64MiB", "the most that may wait there, 4MiB to 64GiB"},
};

constexpr std::uint64_t kLeast = 4 * kSegmentBytes, kMost = 65'536 * kSegmentBytes;

// Parses a size such as "64MiB" or "1GiB".
Result<std::uint64_t> ParseSize(std::string_view text, std::string_view name) {
  const bool giga = text.ends_with("GiB");
  if (giga || text.ends_with("MiB")) {
    const auto number = ParseInt(text.substr(0, text.size() - 3), name);
    const std::uint64_t unit = giga ? 1024 * kSegmentBytes : kSegmentBytes;
    if (number && *number > 0 && static_cast<std::uint64_t>(*number) <= kMost / unit) {
      if (const std::uint64_t bytes = *number * unit; bytes >= kLeast) return bytes;
    }
  }
  return Invalid(Format("{} {}: must be 4MiB to 64GiB, such as 64MiB", name, Printable(text, 40)));
}

// Moves the sessions of the older folder. A session moves while its lock is held, so two agents
// that start now do not both take it; a session that cannot be moved stays.
void TakeOlder(const SpoolOptions& options, SpoolFolder& older) {
  for (const std::string& session : older.Sessions()) {
    const auto lock = older.files().Lock(session);
    std::error_code failed;
    if (!lock) continue;  // its agent lives
    std::filesystem::rename(options.older + "/" + session, options.folder + "/" + session, failed);
    if (failed) LogWarning("session {} stays in {}: {}", session, options.older, failed.message());
  }
}

SpoolOptions StandardSpool() {
  if (geteuid() == 0) return {.folder = "/var/lib/stepscope-agent"};
  return SpoolOfUser(HostName());
}

}  // namespace

std::span<const Option> SpoolRows() {
  return kRows;
}

Result<SpoolOptions> ReadSpool(const Arguments& arguments) {
  const auto bytes = ParseSize(arguments["--spool-size"], arguments.NameOf("--spool-size"));
  if (!bytes) return bytes.error();
  SpoolOptions options{.folder = arguments["--spool"]};
  if (options.folder.empty()) options = StandardSpool();
  options.bytes = *bytes;
  if (options.folder == "none") options.folder.clear();
  while (options.folder.size() > 1 && options.folder.ends_with('/')) options.folder.pop_back();
  return options;
}

SpoolOptions SpoolOfUser(const std::string& host) {
  std::string state = Variable("XDG_STATE_HOME");
  const std::string home = Variable("HOME");
  if (!state.starts_with('/') && home.starts_with('/')) state = home + "/.local/state";
  if (!state.starts_with('/')) return {};
  const bool fits = !host.empty() && !host.starts_with('.') && host.find('/') == host.npos;
  return {.folder = Format("{}/stepscope/{}", state, fits ? host : "node"),
          .older = state + "/stepscope"};
}

Result<std::unique_ptr<SpoolFolder>> TakeSpool(const SpoolOptions& options) {
  if (options.older.empty()) return OpenSpoolFolder(options.folder, options.bytes);
  // The older folder is the parent. Created first, it belongs to this user alone, as older agents
  // demand.
  const auto older = OpenSpoolFolder(options.older, options.bytes);
  auto folder = OpenSpoolFolder(options.folder, options.bytes);
  if (older && folder) TakeOlder(options, **older);
  return folder;
}

std::unique_ptr<SpoolFolder> OpenSpool(const SpoolOptions& options) {
  if (options.folder.empty()) return nullptr;
  auto folder = TakeSpool(options);
  if (folder) return std::move(*folder);
  LogWarning("without a spool on disk ({}); samples wait in memory", folder.error().message);
  return nullptr;
}

}  // namespace stepscope
