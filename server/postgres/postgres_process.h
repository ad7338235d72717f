#pragma once

#include <sys/types.h>

#include <string>
#include <vector>

#include "core/base/result.h"
#include "core/base/time.h"

namespace stepscope {

// The user that runs PostgreSQL, which refuses to be root.
struct ServiceUser {
  uid_t uid = 0;
  gid_t gid = 0;
  std::string name;
  bool change = false;  // this process is root and drops to the user
};

// This process's user; for root the owner of the folder where it exists, else "stepscope",
// "postgres" or "nobody".
Result<ServiceUser> ChooseServiceUser(const std::string& folder);

// A program to run as the user in a session of its own, without our descriptors and environment, in
// "/".
struct ProgramCall {
  std::vector<std::string> arguments;    // the program's path first
  std::vector<std::string> environment;  // "NAME=value"
  std::string log_path;                  // for its output, appended
  ServiceUser user;
  bool ends_with_us = false;  // SIGINT when the calling thread ends
};
Result<pid_t> StartProgram(const ProgramCall& call);

// Whether our child has ended; it is then reaped, and `exit` is the reason ("exit code 1", "signal
// 9").
bool HasEnded(pid_t child, std::string* exit);

// Waits until our child has ended, as HasEnded tells.
bool AwaitEnd(pid_t child, Duration at_most, std::string* exit);

// The number in the first line of the pid file of a cluster; 0 when there is none.
pid_t ServerOf(const std::string& folder);

// The processes of PostgreSQL in the folder: a server and its backends, whoever started them.
// Zombies do not count, nor do other programs there, such as a shell or a backup. `server` is the
// number in the pid file: a process with it in this folder is PostgreSQL under any name that
// contains the word, such as a wrapper's.
std::vector<pid_t> PostgresIn(const std::string& folder, pid_t server = 0);

// Whether the process has the folder as its working directory, whatever it is; false when that may
// not be seen.
bool WorksIn(pid_t pid, const std::string& folder);

// Whether anything in the process table has this number, zombies and threads too.
bool IsTaken(pid_t pid);

}  // namespace stepscope
