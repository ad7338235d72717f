#include "server/app/commands/backup_tool.h"

#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>

#include "core/base/log.h"
#include "core/base/text.h"
#include "server/app/options.h"
#include "server/postgres/postgres_process.h"
#include "server/postgres/postgres_programs.h"
#include "server/store/postgres/postgres_session.h"

namespace stepscope {
namespace {

namespace fs = std::filesystem;

constexpr char kMajor[] = "select current_setting('server_version_num')::bigint / 10000";
constexpr Duration kLongest = std::chrono::hours(7 * 24);

// A variable may be there twice: the first counts. Those that libpq reads are kept, such as
// PGSSLMODE, and HOME for ~/.pgpass.
Result<std::vector<std::string>> EnvironmentFor(const std::string& url) {
  Result<std::vector<std::string>> variables = DatabaseEnvironment(url);
  if (!variables) return variables;
  variables->push_back("PATH=/usr/bin:/bin");
  for (char** variable = environ; *variable; ++variable) {
    const std::string_view text(*variable);
    const bool wanted = text.starts_with("PG") || text.starts_with("HOME=");
    if (wanted) variables->emplace_back(text);
  }
  return variables;
}

// A file for the output of a program. Standard error may be a socket, which cannot be opened by
// name.
class Scratch {
 public:
  Scratch() {
    const int file = mkstemp(path_.data());
    if (file >= 0) close(file);
  }
  ~Scratch() { unlink(path_.c_str()); }
  const std::string& path() const { return path_; }
  std::string Text() const { return FileText(path_); }

 private:
  std::string path_ = (fs::temp_directory_path() / "stepscope-XXXXXX").string();
};

std::string BackupHelp(const BackupCommand& command) {
  return Format("stepscope-server {} FILE: {}.\n\n{}{}", command.name, command.sentence,
                OptionsHelp(DataOptions()), command.examples);
}

Result<std::string> Run(const BackupCommand& command, const Arguments& arguments) {
  if (arguments.rest.size() != 1) {
    return Invalid(Format("one file is wanted (see {} --help)", command.name));
  }
  Settings settings;
  if (Status read = ReadDataSettings(arguments, settings); !read) return read.error();
  StartLog("stepscope-server", LogLevel::kWarning);
  return command.run(settings, fs::absolute(arguments.rest[0]).string());
}

}  // namespace

int RunBackup(const BackupCommand& command, Words words) {
  const Result<Arguments> arguments = ParseArguments(DataOptions(), words, true);
  if (arguments && arguments->help) return Print(stdout, BackupHelp(command)), 0;
  const Result<std::string> said =
      arguments ? Run(command, *arguments) : Result<std::string>(arguments.error());
  if (said) return Print(stderr, *said), 0;
  return Complain(Format("{}: {}", command.name, said.error().message),
                  said.error().code == Code::kInvalid ? kUsage : kFailed);
}

std::string FileText(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

std::string KeyIn(const std::string& data_dir) {
  return data_dir + "/webhook.key";
}

std::string KeyBeside(const std::string& dump) {
  return dump + ".key";
}

Status CopyKey(const std::string& from, const std::string& to) {
  std::error_code fault;
  fs::copy_file(from, to, fault);  // with its mode, which is 0600
  if (fault) return Internal(Format("{} cannot be copied to {}: {}", from, to, fault.message()));
  return {};
}

Status RunTool(const Settings& settings, ServiceDatabase& database, const std::string& tool,
               const std::vector<std::string>& arguments, std::string* printed) {
  const Result<Rows> major = database.connection->Query(kMajor);
  if (!major) return major.error();
  const Result<std::string> program =
      FindPostgresTool(settings.pg_bindir, tool, static_cast<int>(major->Int(0, 0)));
  if (!program) return program.error();
  Result<std::vector<std::string>> environment = EnvironmentFor(database.url);
  if (!environment) return environment.error();
  ProgramCall call;
  call.arguments = {*program};
  call.arguments.insert(call.arguments.end(), arguments.begin(), arguments.end());
  call.environment = std::move(*environment);
  const Scratch words;
  call.log_path = words.path();
  call.ends_with_us = true;
  const Result<pid_t> child = StartProgram(call);
  if (!child) return child.error();
  std::string exit;
  if (!AwaitEnd(*child, kLongest, &exit)) return Unavailable(Format("{} does not end", tool));
  if (printed) *printed = words.Text();
  if (exit == "exit code 0") return {};
  return Internal(Format("{} failed ({}): {}", tool, exit, Trim(words.Text())));
}

}  // namespace stepscope
