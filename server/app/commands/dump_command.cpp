#include "server/app/commands/dump_command.h"

#include <filesystem>

#include "core/base/text.h"
#include "server/app/commands/backup_tool.h"

namespace stepscope {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kDumpExamples = R"(
The service may run meanwhile; the file holds one instant. The key of the data folder, with which the
secrets of webhooks are sealed, is copied beside it, to FILE.key: keep both as you keep the folder.

  stepscope-server dump /backup/stepscope.dump
  stepscope-server dump --data-dir /srv/stepscope /backup/stepscope-$(date +%F).dump
)";

Status CheckPlace(const Settings& settings, const std::string& file) {
  std::error_code none;
  for (const std::string& path : {file, KeyBeside(file)}) {
    if (fs::exists(path, none)) {
      return Conflict(Format("{} is there already; remove it, or choose another name", path));
    }
  }
  const std::string folder = fs::path(file).parent_path().string();
  if (!fs::is_directory(folder, none)) return Invalid(Format("there is no folder {}", folder));
  return CheckHasDatabase(settings);
}

// Whether tables are distributed is decided by the database that it is restored into.
Status Write(const Settings& settings, ServiceDatabase& database, const std::string& file) {
  const std::string part = file + ".part";
  Status done = RunTool(settings, database, "pg_dump",
                        {"--format=custom", "--compress=1", "--no-owner", "--no-privileges",
                         "--exclude-table=schema_migrations_citus", "--file=" + part});
  std::error_code fault;
  if (done) fs::rename(part, file, fault);
  if (fault) done = Internal(Format("{}: {}", file, fault.message()));
  if (!done) fs::remove(part, fault);
  return done;
}

Result<std::string> Dump(const Settings& settings, const std::string& file) {
  if (Status free = CheckPlace(settings, file); !free) return free.error();
  Result<ServiceDatabase> database = OpenUnchangedDatabase(settings);
  if (!database) return database.error();
  if (Status written = Write(settings, *database, file); !written) return written.error();

  const std::string size = Format("{} ({} bytes)", file, fs::file_size(file));
  const std::string key = KeyIn(settings.data_dir);
  if (!fs::exists(key)) {
    return Format(
        "wrote {}; there is no {}: keep the one of the service's data folder with it, or "
        "webhooks must be made anew\n",
        size, key);
  }
  if (Status copied = CopyKey(key, KeyBeside(file)); !copied) return copied.error();
  return Format("wrote {} and {}\n", size, KeyBeside(file));
}

}  // namespace

int RunDump(Words words) {
  return RunBackup(
      {"dump", "write the database and the key of webhooks to files", kDumpExamples, Dump}, words);
}

}  // namespace stepscope
