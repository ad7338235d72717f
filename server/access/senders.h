#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>

#include "core/base/may_wait.h"
#include "server/access/caller.h"
#include "server/access/node_owners.h"
#include "server/access/rates.h"
#include "server/store/jobs/jobs.h"

namespace stepscope {

// How much the name of a token may send, and how many new jobs and nodes it may bring in 24 hours.
struct SendLimits {
  RateLimits::Rate node_pushes{10, 40};
  RateLimits::Rate pushes{5'000, 10'000};
  RateLimits::Rate bytes{200.0 * 1024 * 1024, 400.0 * 1024 * 1024};
  std::int64_t new_jobs = 1'000, new_nodes = 10'000;
  // Trace files, which come all at once when the ranks of a job have recorded a window.
  RateLimits::Rate imports{1, 2'000};
  RateLimits::Rate import_bytes{20.0 * 1024 * 1024, 64.0 * 1024 * 1024 * 1024};
};

// The subject of a push, as it says itself.
struct Sending {
  std::string job, node;
  std::size_t bytes = 0;
  bool opens = false;  // it begins a session: the job may be new
};

// Why something may not be sent: code and detail of a problem.
struct SendRefusal {
  std::string code, detail;
  Duration retry_after{};  // zero: it does not help to wait
};

// Nothing when it may be sent; an error when the database has to be asked and does not answer.
using SendCheck = Result<std::optional<SendRefusal>>;

// Whether a caller may send this: the jobs of its scopes, the nodes of its name, and not more than
// it may. Where nobody has to say who they are, everything may be. Safe from any thread.
class Senders {
 public:
  Senders(Database& database, const Clock& clock, SendLimits limits = {});

  // Where it may not wait, nothing when the database has to be asked; nothing is counted then.
  std::optional<SendCheck> Check(const Caller& caller, const Sending& sending, MayWait may_wait);

  // Whether the caller may make this job.
  SendCheck CheckNewJob(Connection& connection, const Caller& caller, const std::string& job) const;

  // Whether the caller may import a trace file of so many bytes into a job that stands: not more
  // than it may, and one who is for some nodes alone only into jobs that it made, or that have a
  // node of these.
  SendCheck CheckImport(Connection& connection, const Caller& caller, const JobRow& job,
                        std::uint64_t bytes);

  void ForgetNode(const std::string& node) { owners_.Forget(node); }

 private:
  Duration Wait(const std::string& sender, const Sending& sending);
  SendCheck CheckNode(const Caller& caller, const std::string& node,
                      std::optional<NodeOwners::Claim> recalled);
  SendCheck CheckOpening(const Caller& caller, const std::string& job);

  Database& database_;
  const Clock& clock_;
  const SendLimits limits_;
  NodeOwners owners_;
  RateLimits node_pushes_, pushes_, bytes_, imports_, import_bytes_;
};

// The sender that is kept as the maker of jobs and the owner of nodes: "" where nobody has to say
// who they are. A name of a token, of a proxy's user and of a certificate are three senders.
std::string MakerOf(const Caller& caller);

}  // namespace stepscope
