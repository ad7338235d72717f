#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "core/base/options.h"
#include "server/app/commands/command.h"
#include "server/app/service_database.h"
#include "server/app/settings.h"

namespace stepscope {

// The common part of "dump FILE" and "restore FILE".
struct BackupCommand {
  std::string_view name, sentence, examples;
  Result<std::string> (*run)(const Settings& settings,
                             const std::string& file);  // returns what to print
};
int RunBackup(const BackupCommand& command, Words words);

// The content of a file; empty when it cannot be read.
std::string FileText(const std::string& path);

// The key that the secrets of webhooks are sealed with, and the copy of it beside a dump.
std::string KeyIn(const std::string& data_dir);
std::string KeyBeside(const std::string& dump);
// Writes a new file for the owner alone.
Status CopyKey(const std::string& from, const std::string& to);

// Runs pg_dump or pg_restore on the database; an error holds what it printed, and so does `printed`
// where it is given. It finds the
// database's address in its environment, so that nobody sees a password on its command line.
Status RunTool(const Settings& settings, ServiceDatabase& database, const std::string& tool,
               const std::vector<std::string>& arguments, std::string* printed = nullptr);

}  // namespace stepscope
