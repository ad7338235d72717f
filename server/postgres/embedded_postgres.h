#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "core/base/result.h"
#include "core/base/time.h"

namespace stepscope {

struct EmbeddedPostgresOptions {
  std::string data_dir;   // created when missing; the cluster is in its folder "postgres"
  std::string pg_bindir;  // folder of initdb and postgres; empty = the newest installed
  std::vector<std::string> settings;                          // further "name=value", for tests
  std::optional<std::uint64_t> ballast_bytes = std::nullopt;  // nullopt: left as it is
  Duration stops_within = 30s;  // for a fast shutdown; then it is shut down at once
  Duration quits_within = 10s;  // then it is killed
};

// A PostgreSQL of our own: a cluster in our data folder, on a unix socket only, run as a child of
// this process. When it dies it is started again: after a second, and one that was not ready before
// after a growing pause; when this process dies,
// however that happens, the kernel tells it to shut down. Run as root, it drops to a user that owns
// the folder.
//
// It also keeps the ballast: when the server ends because the disk is full, it is given up and the
// server comes up in its place (docs/decisions/0009-full-disk.md).
//
// A thread of its own makes and watches the child, because the kernel's signal is bound to the
// thread that forked. Use from one thread.
class EmbeddedPostgres {
 public:
  // Starts the server, which takes connections when this returns. Unavailable: the folder is in
  // use, or the server did not start; Invalid: no PostgreSQL, the wrong version, or a folder that
  // cannot be used.
  static Result<std::unique_ptr<EmbeddedPostgres>> Start(const EmbeddedPostgresOptions& options);
  ~EmbeddedPostgres();

  std::string url() const;            // as the service's role, which is no superuser
  std::string superuser_url() const;  // for tests
  // The address of this folder's server while some process runs it.
  static std::string UrlIn(const std::string& data_dir);
  int pid() const;  // the server's process; 0 while it is down

  // Stops the server: fast, then at once, then with SIGKILL, as the options say. Also done by the
  // destructor.
  Status Stop();

 private:
  EmbeddedPostgres();
  struct Life;
  std::unique_ptr<Life> life_;
};

}  // namespace stepscope
