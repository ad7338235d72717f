#pragma once

#include <cstdint>
#include <string>

#include "core/base/result.h"
#include "server/postgres/postgres_process.h"
#include "server/postgres/postgres_programs.h"

namespace stepscope {

// The data folder of the embedded PostgreSQL, locked for this process while the object lives.
//   postgres/       the cluster, owned by the service user
//   socket/         its unix socket
//   postgres.log    its output
//   postgres.lock   locked by the process that uses the folder; holds its number
//   postgres_*.conf who may connect
//   ballast         room for the day the disk is full: see ballast.h
class PostgresFolder {
 public:
  // Creates missing files, cluster included. A kill in the middle leaves nothing half made: the
  // cluster gets its name when it is complete. Not `durable` (for tests): a new cluster is not
  // flushed to the disk.
  static Result<PostgresFolder> Open(const std::string& data_dir, const std::string& pg_bindir,
                                     bool durable = true);
  PostgresFolder(PostgresFolder&& other) noexcept;
  ~PostgresFolder();

  const PostgresPrograms& programs() const { return programs_; }
  const ServiceUser& user() const { return user_; }
  const std::string& root() const { return root_; }
  std::string cluster() const { return root_ + "/postgres"; }
  static std::string SocketDir(const std::string& root) { return root + "/socket"; }
  std::string socket_dir() const { return SocketDir(root_); }
  std::string log_path() const { return root_ + "/postgres.log"; }
  std::string hba_path() const { return root_ + "/postgres_hba.conf"; }
  std::string ident_path() const { return root_ + "/postgres_ident.conf"; }

  // Whether a server takes connections, by its pid file.
  bool IsReady() const;

  // The line of the log, after its first `read` bytes, with which PostgreSQL ended for want of
  // room; "" without one. Moves `read` to the end.
  std::string OutOfRoom(std::uintmax_t& read) const;

  // The last lines of the log, joined, for an error.
  std::string LastLogLines() const;

 private:
  PostgresFolder() = default;
  Status Lock();
  Status Prepare(const std::string& pg_bindir);
  Status MakeCluster() const;
  Status WriteAccess() const;

  std::string root_;
  bool durable_ = true;
  int lock_ = -1;
  PostgresPrograms programs_;
  ServiceUser user_;
};

}  // namespace stepscope
