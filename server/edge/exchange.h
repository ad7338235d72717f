#pragma once

#include <memory>
#include <optional>

#include "server/edge/body_file.h"
#include "server/edge/budget.h"
#include "server/edge/http/body.h"
#include "server/edge/http/head.h"
#include "server/edge/http/message.h"
#include "server/edge/http/write_answer.h"
#include "server/edge/options.h"

namespace stepscope {

// Reads one request as its bytes come: first the head, then, once it was allowed, the body. For one
// thread.
class Exchange {
 public:
  Exchange(const EdgeOptions& options, ByteBudget& bodies)
      : options_(&options), head_(options.head), held_(bodies) {}

  // Each of these takes a beginning of `bytes` and says how much. The request is complete but for
  // its body when the head is done, and complete when the body is.
  Progress FeedHead(std::string_view bytes, std::size_t& consumed);
  Progress StartBody(std::size_t most_bytes, bool to_file);
  Progress FeedBody(std::string_view bytes, std::size_t& consumed);

  // A body that goes to a file: once so much has come that a part should be written, that part. It
  // counts as held until Written. The file comes with the request.
  bool HasPart() const;
  std::string TakePart();
  void Written(std::shared_ptr<BodyFile> file);
  const std::shared_ptr<BodyFile>& file() const { return file_; }

  const Refusal& refusal() const { return refusal_; }  // after kFault
  Request& request() { return request_; }

  bool expects_continue() { return head_.head().expects_continue; }
  bool unread() const { return !read_; }  // the end of the body has not come
  AnswerForm Form();

  // The deadline of a body that began at that time.
  SteadyTime BodyDeadline(SteadyTime began);

  // Take moves the request out, TakeHold the memory that its body holds. Enough stays here to
  // answer with a fault.
  Request Take();
  ByteBudget::Hold TakeHold() { return std::move(held_); }

 private:
  const EdgeOptions* options_;
  HeadReader head_;
  std::optional<BodyReader> body_;
  Request request_;
  Refusal refusal_;
  ByteBudget::Hold held_;
  bool to_file_ = false;
  std::shared_ptr<BodyFile> file_;  // null until a part was written
  std::size_t part_bytes_ = 0;      // being written
  std::size_t received_bytes_ = 0;  // bytes of the body that came
  bool read_ = false;               // head and body were read to their end
};

}  // namespace stepscope
