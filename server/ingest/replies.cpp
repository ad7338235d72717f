#include "server/ingest/replies.h"

#include "core/base/text.h"

namespace stepscope {
namespace {

// Samples were checked before: they are refused now because the job has ended, or by a fault of
// ours.
PushReply ReplyToSamples(const PushOutcome& outcome) {
  PushReply reply;
  reply.samples = outcome.samples;
  if (outcome.rejected.empty()) return reply;
  const RejectedFrame& first = outcome.rejected.front();
  const bool ended = first.code == "job-ended";
  return Refused(ended ? 409 : 500, ended ? first.code : "internal", first.detail);
}

}  // namespace

PushReply Refused(int status, std::string code, std::string detail) {
  PushReply reply;
  reply.status = status;
  reply.problem_code = std::move(code);
  reply.detail = std::move(detail);
  return reply;
}

void Add(PushOutcome& sum, const PushOutcome& part) {
  sum.cursor = part.cursor;
  sum.gap = part.gap;
  sum.unknown_schema = part.unknown_schema;
  sum.job_id = part.job_id;
  sum.unknown_job = part.unknown_job;
  sum.node_bound = part.node_bound;
  sum.commands = part.commands;
  sum.rejected.insert(sum.rejected.end(), part.rejected.begin(), part.rejected.end());
  sum.with_schema.insert(sum.with_schema.end(), part.with_schema.begin(), part.with_schema.end());
  sum.refused += part.refused;
  sum.frames += part.frames;
  sum.samples += part.samples;
  sum.bytes += part.bytes;
  sum.duplicates += part.duplicates;
  sum.lost += part.lost;
}

PushReply ReplyTo(const CheckedPush& push, const PushOutcome& outcome, Time now) {
  const std::uint64_t expected = outcome.cursor + 1;
  if (outcome.unknown_job) {
    return Refused(410, "unknown-job", Format("job {} is not known here", push.job));
  }
  if (outcome.node_bound) {
    return Refused(403, "node-bound",
                   Format("node {} belongs to the token of another name; an admin can release it",
                          Printable(push.node, 64)));
  }
  if (!push.numbered) return ReplyToSamples(outcome);
  if (outcome.gap) {
    PushReply reply = Refused(409, "gap", Format("frame {} is the next one wanted", expected));
    reply.expected = expected;
    return reply;
  }
  if (outcome.unknown_schema > 0) {
    const PushRefusal refusal = UnknownSchema(outcome.unknown_schema);
    return Refused(refusal.status, refusal.code, refusal.detail);
  }
  PushReply reply;
  reply.answer = {outcome.cursor, expected, outcome.rejected, now, outcome.commands};
  return reply;
}

}  // namespace stepscope
