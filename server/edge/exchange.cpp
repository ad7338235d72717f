#include "server/edge/exchange.h"

#include <algorithm>

namespace stepscope {
namespace {

constexpr std::size_t kPartBytes = 1024 * 1024;  // what is written to a file at once
constexpr std::size_t kFairBytesPerSecond = 64 * 1024, kLeastBytesPerSecond = 1024;

Duration TimeFor(std::size_t bytes, std::size_t per_second) {
  return std::chrono::nanoseconds(1s) * bytes / per_second;
}

}  // namespace

Progress Exchange::FeedHead(std::string_view bytes, std::size_t& consumed) {
  const Progress progress = head_.Feed(bytes, consumed);
  if (progress == Progress::kFault) refusal_ = head_.refusal();
  if (progress != Progress::kDone) return progress;
  Head& head = head_.head();
  request_.method = head.method;
  request_.path = std::move(head.path);
  request_.query = std::move(head.query);
  request_.headers = std::move(head.headers);
  read_ = head.framing == Framing::kNone ||
          (head.framing == Framing::kLength && head.content_length == 0);
  request_.has_body = !read_;
  return progress;
}

Progress Exchange::StartBody(std::size_t most_bytes, bool to_file) {
  to_file_ = to_file;
  BodyLimits limits{.most_bytes = most_bytes, .inflate = options_->inflate};
  limits.inflate.most_bytes = std::min<std::uint64_t>(most_bytes, limits.inflate.most_bytes);
  body_.emplace(head_.head(), limits);
  std::size_t none = 0;
  return FeedBody("", none);
}

Progress Exchange::FeedBody(std::string_view bytes, std::size_t& consumed) {
  Progress progress = bytes.empty() ? body_->progress() : body_->Feed(bytes, consumed);
  received_bytes_ += consumed;
  if (progress == Progress::kFault) refusal_ = body_->refusal();
  read_ = read_ || progress == Progress::kDone;
  if (!held_.Set(body_->held_bytes() + part_bytes_) && progress != Progress::kFault) {
    refusal_ = {"busy", "too many large requests at once"};
    progress = Progress::kFault;
  }
  if (progress == Progress::kDone) {
    request_.body = body_->Take();
    request_.body_file = std::move(file_);
  }
  if (progress == Progress::kFault) held_.Set(0);
  if (progress != Progress::kMore) body_.reset();
  return progress;
}

bool Exchange::HasPart() const {
  return to_file_ && body_ && body_->part_bytes() >= kPartBytes;
}

std::string Exchange::TakePart() {
  std::string part = body_->TakePart();
  part_bytes_ = part.capacity();
  return part;
}

void Exchange::Written(std::shared_ptr<BodyFile> file) {
  file_ = std::move(file);
  part_bytes_ = 0;
  held_.Set(body_->held_bytes());
}

AnswerForm Exchange::Form() {
  const Head& head = head_.head();
  return {.head_only = head.method == "HEAD",
          .close = !head.keep_alive || unread(),
          .say_keep = head.minor_version == 0};
}

SteadyTime Exchange::BodyDeadline(SteadyTime began) {
  const std::size_t bytes = std::max<std::size_t>(head_.head().content_length, received_bytes_);
  return std::min(began + options_->body_within + TimeFor(bytes, kFairBytesPerSecond),
                  began + options_->body_slack + TimeFor(received_bytes_, kLeastBytesPerSecond));
}

Request Exchange::Take() {
  Request left{.method = request_.method,
               .path = {},
               .query = {},
               .headers = {},
               .body = {},
               .body_file = {},
               .peer = request_.peer,
               .secure = request_.secure,
               .certificate = {},
               .caller = {},
               .request_id = request_.request_id};
  return std::exchange(request_, std::move(left));
}

}  // namespace stepscope
