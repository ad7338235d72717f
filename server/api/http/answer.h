#pragma once

#include <string>

#include "core/base/json_members.h"
#include "server/edge/http/message.h"
#include "server/store/jobs/jobs.h"

namespace stepscope {

// Parts of answers.

Reply JsonReply(const OrderedJson& json, int status = 200);

// An answer about a job: with an ETag once the job has ended, never stored before.
Reply JobReply(const JobRow& job, const OrderedJson& json);
Reply JobReply(const JobRow& job, std::string json);

}  // namespace stepscope
