#include "server/access/senders.h"

#include <algorithm>

#include "core/base/text.h"
#include "server/access/scope.h"

namespace stepscope {
namespace {

constexpr std::int64_t kSenderDayUs = 86'400'000'000;
constexpr Duration kAskAgain = 10min;  // when the new jobs or nodes of a day are used up

SendCheck May() {
  return std::optional<SendRefusal>();
}

SendCheck Refuse(std::string code, std::string detail, Duration retry_after = {}) {
  return std::optional(SendRefusal{std::move(code), std::move(detail), retry_after});
}

}  // namespace

std::string MakerOf(const Caller& caller) {
  switch (caller.how) {
    case Caller::kOpen:
      return "";
    case Caller::kToken:
    case Caller::kSession:
      return caller.name;
    case Caller::kCertificate:
      return std::string(kCertificateSender) + caller.name;
    case Caller::kProxy:
      return std::string(kProxySender) + caller.name;
  }
  return "";
}

Senders::Senders(Database& database, const Clock& clock, SendLimits limits)
    : database_(database),
      clock_(clock),
      limits_(limits),
      owners_(database, clock, limits.new_nodes),
      node_pushes_(limits.node_pushes),
      pushes_(limits.pushes),
      bytes_(limits.bytes),
      imports_(limits.imports),
      import_bytes_(limits.import_bytes) {}

std::optional<SendCheck> Senders::Check(const Caller& caller, const Sending& sending,
                                        MayWait may_wait) {
  if (caller.how == Caller::kOpen) return May();
  const std::string sender = MakerOf(caller);
  const auto recalled = owners_.Recall(sending.node, sender);
  if (may_wait == MayWait::kNo && (!recalled || sending.opens)) return std::nullopt;
  if (!Covers(caller.scopes, sending.job)) {
    return Refuse("forbidden", Format("the token is not for job {}", Printable(sending.job, 64)));
  }
  if (const Duration wait = Wait(sender, sending); wait > Duration::zero()) {
    return Refuse("too-many-requests", "one token may not send so much", wait);
  }
  if (SendCheck node = CheckNode(caller, sending.node, recalled); !node || *node) return node;
  if (const Duration wait = node_pushes_.Take(sender + '\n' + sending.node, 1, clock_.Steady());
      wait > Duration::zero()) {
    return Refuse("too-many-requests", "one node may not send so often", wait);
  }
  return sending.opens ? CheckOpening(caller, sending.job) : May();
}

// A certificate is for the node whose name it carries, and a token that was made for some nodes is
// for these. Whoever has a node keeps it when a token is made for its name.
SendCheck Senders::CheckNode(const Caller& caller, const std::string& node,
                             std::optional<NodeOwners::Claim> recalled) {
  const std::string shown = Printable(node, 64);
  if (caller.how == Caller::kCertificate && node != caller.name) {
    return Refuse("node-bound", Format("the certificate is not for node {}", shown));
  }
  if (!Covers(caller.nodes, node)) {
    return Refuse("forbidden", Format("the token is not for node {}", shown));
  }
  const bool entitled = !caller.nodes.empty() || caller.how == Caller::kCertificate;
  const Result<NodeOwners::Claim> claim =
      recalled ? *recalled : owners_.Load(node, MakerOf(caller), entitled);
  if (!claim) return claim.error();
  switch (*claim) {
    case NodeOwners::kOwn:
    case NodeOwners::kFree:
      return May();
    case NodeOwners::kForeign:
      return Refuse("node-bound", Format("node {} belongs to the token of another name; an admin "
                                         "can release it",
                                         shown));
    case NodeOwners::kReserved:
      return Refuse(
          "node-bound",
          Format("node {} is reserved for tokens that were made with --nodes for it", shown));
    case NodeOwners::kTooMany:
      return Refuse("limit-nodes",
                    Format("{} nodes were new within 24 hours, which is the most for one token",
                           limits_.new_nodes),
                    kAskAgain);
  }
  return May();
}

SendCheck Senders::CheckImport(Connection& connection, const Caller& caller, const JobRow& job,
                               std::uint64_t bytes) {
  if (caller.how == Caller::kOpen) return May();
  const std::string sender = MakerOf(caller);
  const bool certified = caller.how == Caller::kCertificate;
  if ((certified || !caller.nodes.empty()) && job.created_by != sender) {
    const Result<std::vector<NodeRow>> nodes = ListNodes(connection, job.job_id);
    if (!nodes) return nodes.error();
    const bool takes_part = std::ranges::any_of(*nodes, [&](const NodeRow& node) {
      return certified ? node.name == caller.name : Covers(caller.nodes, node.name);
    });
    if (!takes_part) {
      return Refuse("forbidden", Format("no node that the {} is for is of job {}",
                                        certified ? "certificate" : "token", job.name));
    }
  }
  const SteadyTime now = clock_.Steady();
  Duration wait = imports_.Take(sender, 1, now);
  const double most = limits_.import_bytes.burst;
  if (wait == Duration::zero()) {
    wait = import_bytes_.Take(sender, std::min(static_cast<double>(bytes), most), now);
  }
  if (wait == Duration::zero()) return May();
  return Refuse("too-many-requests", "one token may not send so many trace files", wait);
}

Duration Senders::Wait(const std::string& sender, const Sending& sending) {
  const SteadyTime now = clock_.Steady();
  const Duration wait = pushes_.Take(sender, 1, now);
  if (wait > Duration::zero()) return wait;
  const double most = limits_.bytes.burst;
  return bytes_.Take(sender, std::min(static_cast<double>(sending.bytes), most), now);
}

SendCheck Senders::CheckOpening(const Caller& caller, const std::string& job) {
  Result<Database::Lease> lease = database_.Acquire();
  if (!lease) return lease.error();
  return CheckNewJob(**lease, caller, job);
}

SendCheck Senders::CheckNewJob(Connection& connection, const Caller& caller,
                               const std::string& job) const {
  if (caller.how == Caller::kOpen) return May();
  const Result<JobRow> stands = FindJob(connection, job);
  if (stands) return May();
  if (stands.error().code != Code::kNotFound) return stands.error();
  const Result<std::int64_t> today =
      CountNewJobs(connection, MakerOf(caller), ToMicros(clock_.Now()) - kSenderDayUs);
  if (!today) return today.error();
  if (*today < limits_.new_jobs) return May();
  return Refuse("limit-jobs",
                Format("{} jobs were made within 24 hours, which is the most for one token",
                       limits_.new_jobs),
                kAskAgain);
}

}  // namespace stepscope
