#include "agent/app/spool_options.h"

#include <unistd.h>

#include "agent/app/common_options.h"
#include "core/base/log.h"
#include "core/base/text.h"

namespace stepscope {
namespace {

constexpr Option kRows[] = {
    {"--spool", "DIR", "",
     "where samples wait while the service is away, 'none' for in memory only; by default "
     "/var/lib/stepscope-agent for root, else ~/.local/state/stepscope"},
    {"--spool-size", "SIZE", "64MiB", "the most that may wait there, 4MiB to 64GiB"},
};

constexpr std::uint64_t kLeast = 4 * kSegmentBytes, kMost = 65'536 * kSegmentBytes;

// "64MiB", "1GiB".
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

std::string StandardFolder() {
  if (geteuid() == 0) return "/var/lib/stepscope-agent";
  const std::string state = Variable("XDG_STATE_HOME");
  if (state.starts_with('/')) return state + "/stepscope";
  const std::string home = Variable("HOME");
  return home.starts_with('/') ? home + "/.local/state/stepscope" : "";
}

}  // namespace

std::span<const Option> SpoolRows() {
  return kRows;
}

Result<SpoolOptions> ReadSpool(const Arguments& arguments) {
  const auto bytes = ParseSize(arguments["--spool-size"], arguments.NameOf("--spool-size"));
  if (!bytes) return bytes.error();
  SpoolOptions options{.folder = arguments["--spool"], .bytes = *bytes};
  if (options.folder.empty()) options.folder = StandardFolder();
  if (options.folder == "none") options.folder.clear();
  while (options.folder.size() > 1 && options.folder.ends_with('/')) options.folder.pop_back();
  return options;
}

std::unique_ptr<SpoolFolder> OpenSpool(const SpoolOptions& options) {
  if (options.folder.empty()) return nullptr;
  auto folder = OpenSpoolFolder(options.folder, options.bytes);
  if (folder) return std::move(*folder);
  LogWarning("without a spool on disk ({}); samples wait in memory", folder.error().message);
  return nullptr;
}

}  // namespace stepscope
