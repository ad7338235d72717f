#include "server/app/commands/restore_command.h"

#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <sstream>

#include "core/base/descriptor.h"
#include "core/base/text.h"
#include "server/app/commands/backup_tool.h"
#include "server/store/schema/migrations.h"

namespace stepscope {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kRestoreExamples = R"(
The database must be empty: a new data folder, or a new database of your server. FILE.key goes into
the data folder, unless a key is there. Start the service afterwards. Restore only what you dumped
yourself: a dump can hold programs, which run with the rights of the service in its database.

  stepscope-server restore --data-dir /srv/stepscope-new /backup/stepscope.dump
  STEPSCOPE_DATABASE_URL=postgresql://stepscope@db/new stepscope-server restore stepscope.dump
)";

constexpr char kTables[] = R"(
select coalesce(string_agg(relname, ', ' order by relname), '')
from pg_class
where relkind in ('r', 'p') and relnamespace = any(
    select oid
    from pg_namespace
    where nspname <> 'information_schema' and nspname !~ '^pg_')
    and oid not in (select objid from pg_depend where deptype = 'e'))";
// The function of a dump that was made on Citus asks Citus; there the migration makes it so again.
constexpr char kPlainTableBytes[] = R"(
create or replace function table_bytes(name regclass) returns bigint
    language sql
    as 'select pg_total_relation_size(name)')";
constexpr char kCountJobs[] = "select count(*) from jobs";
constexpr Duration kAnalyze = std::chrono::hours(1);

Status CheckFiles(const Settings& settings, const std::string& file) {
  if (access(file.c_str(), R_OK) != 0) return NotFound(Format("{} cannot be read", file));
  const std::string key = KeyIn(settings.data_dir), copy = KeyBeside(file);
  if (!fs::exists(key) || !fs::exists(copy) || FileText(key) == FileText(copy)) return {};
  return Conflict(Format("{} is another key than {}; move it away first", key, copy));
}

Status CheckEmpty(Connection& connection) {
  const Result<Rows> tables = connection.Query(kTables);
  if (!tables) return tables.error();
  const std::string names = tables->Text(0, 0);
  if (names.empty()) return {};
  return Conflict(
      Format("the database has tables already ({}); choose an empty one: another "
             "--data-dir, or a new database",
             names.size() > 60 ? names.substr(0, 60) + "..." : names));
}

// The functions of a dump, such as that of an index, run with the rights of the service. A file
// that is no dump of a service by its list of contents does not get that far.
Result<std::string> ListOfOurs(const Settings& settings, ServiceDatabase& database,
                               const std::string& file) {
  std::string list;
  const Status done = RunTool(settings, database, "pg_restore", {"--list", file}, &list);
  if (!done) return done.error();
  if (list.find(" TABLE public schema_migrations ") != list.npos) return list;
  return Invalid(Format("{} is no dump of this service: it has no table schema_migrations", file));
}

// The list without extensions: a database has Citus before it is restored into, or not at all, and
// its owner may neither make nor describe it.
std::string WithoutExtensions(const std::string& list) {
  std::string kept;
  std::istringstream lines(list);
  for (std::string line; std::getline(lines, line);) {
    if (line.find(" EXTENSION ") == line.npos) kept += line + "\n";
  }
  return kept;
}

// A file that goes with this object.
class ListFile {
 public:
  explicit ListFile(const std::string& text) {
    path_ = (fs::temp_directory_path() / "stepscope-restore-XXXXXX").string();
    const Descriptor file(mkstemp(path_.data()));
    std::ofstream(path_) << text;
  }
  ListFile(const ListFile&) = delete;
  ~ListFile() { unlink(path_.c_str()); }

  const std::string& path() const { return path_; }

 private:
  std::string path_;
};

// One transaction restores all or nothing. The statistics are not in the file, so they are made.
Status Read(const Settings& settings, ServiceDatabase& database, const std::string& file,
            const std::string& list) {
  const ListFile wanted(WithoutExtensions(list));
  Status done = RunTool(settings, database, "pg_restore",
                        {"--single-transaction", "--exit-on-error", "--no-owner", "--no-privileges",
                         "--use-list=" + wanted.path(), "--dbname=postgresql://", file});
  if (!done) return done;
  Result<std::unique_ptr<Connection>> patient = Connection::Open(database.url, kAnalyze);
  if (!patient) return patient.error();
  done = (*patient)->Execute("analyze");
  if (done) done = (*patient)->Execute(kPlainTableBytes);
  return done ? Migrate(**patient) : done;
}

Result<std::string> TakeKey(const Settings& settings, const std::string& file) {
  const std::string key = KeyIn(settings.data_dir), copy = KeyBeside(file);
  if (fs::exists(key)) return std::string();
  if (!fs::exists(copy)) {
    return Format(
        "; there is no {}: put the key of the service that was dumped to {}, or make the "
        "webhooks anew",
        copy, key);
  }
  std::error_code made;
  if (fs::create_directories(settings.data_dir, made)) chmod(settings.data_dir.c_str(), 0700);
  if (Status copied = CopyKey(copy, key); !copied) return copied.error();
  return Format(", and {}", key);
}

Result<std::string> Restore(const Settings& settings, const std::string& file) {
  if (Status good = CheckFiles(settings, file); !good) return good.error();
  Result<ServiceDatabase> database = OpenUnchangedDatabase(settings);
  if (!database) return database.error();
  if (Status empty = CheckEmpty(*database->connection); !empty) return empty.error();
  const Result<std::string> list = ListOfOurs(settings, *database, file);
  if (!list) return list.error();
  if (Status read = Read(settings, *database, file, *list); !read) return read.error();
  const Result<std::string> key = TakeKey(settings, file);
  if (!key) return key.error();
  const Result<Rows> jobs = database->connection->Query(kCountJobs);
  if (!jobs) return jobs.error();
  return Format("restored {} jobs{}\n", jobs->Int(0, 0), *key);
}

}  // namespace

int RunRestore(Words words) {
  return RunBackup(
      {"restore", "fill an empty database from a file of \"dump\"", kRestoreExamples, Restore},
      words);
}

}  // namespace stepscope
