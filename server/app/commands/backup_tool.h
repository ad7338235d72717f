#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "core/base/options.h"
#include "server/app/commands/command.h"
#include "server/app/service_database.h"
#include "server/app/settings.h"

namespace stepscope {

// What "dump FILE" and "restore FILE" share.
struct BackupCommand {
  std::string_view name, sentence, examples;
  Result<std::string> (*run)(const Settings& settings, const std::string& file);  // what to print
};
int RunBackup(const BackupCommand& command, Words words);

// Empty when it cannot be read.
std::string FileText(const std::string& path);

// The key that the secrets of webhooks are sealed with, and the copy of it beside a dump.
std::string KeyIn(const std::string& data_dir);
std::string KeyBeside(const std::string& dump);
// A new file for the owner alone.
Status CopyKey(const std::string& from, const std::string& to);

// pg_dump or pg_restore on the database, to its end; the error holds what it said. It finds the
// database's address in its environment, so that nobody sees a password on its command line.
Status RunTool(const Settings& settings, ServiceDatabase& database, const std::string& tool,
               const std::vector<std::string>& arguments);

}  // namespace stepscope
