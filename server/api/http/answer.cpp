#include "server/api/http/answer.h"

#include <functional>

#include "core/base/text.h"

namespace stepscope {

Reply JsonReply(const OrderedJson& json, int status) {
  return {.status = status, .content_type = "application/json", .body = Dump(json), .headers = {}};
}

Reply JobReply(const JobRow& job, const OrderedJson& json) {
  return JobReply(job, Dump(json));
}

Reply JobReply(const JobRow& job, std::string json) {
  Reply reply{
      .status = 200, .content_type = "application/json", .body = std::move(json), .headers = {}};
  if (!HasEnded(job.status)) return reply;
  reply.headers.emplace_back("ETag",
                             Format("\"{:016x}\"", std::hash<std::string_view>()(reply.body)));
  reply.headers.emplace_back("Cache-Control", "private, no-cache");
  return reply;
}

}  // namespace stepscope
