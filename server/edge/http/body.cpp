#include "server/edge/http/body.h"

#include "core/base/text.h"
#include "server/edge/http/growth.h"

namespace stepscope {
namespace {

constexpr std::size_t kInflaterBytes = 40 * 1024;

}  // namespace

BodyReader::BodyReader(const Head& head, const BodyLimits& limits)
    : most_bytes_(limits.most_bytes), left_bytes_(head.content_length) {
  if (head.framing == Framing::kNone) {
    progress_ = Progress::kDone;
    return;
  }
  if (left_bytes_ > most_bytes_) {
    Refuse({"too-large",
            Format("the body has {} bytes, at most {} are taken", left_bytes_, most_bytes_)});
    return;
  }
  if (head.framing == Framing::kChunked) chunks_.emplace(most_bytes_);
  if (head.framing == Framing::kLength) most_bytes_ = left_bytes_;
  if (head.coding == Coding::kGzip) inflater_.emplace(limits.inflate);
  if (!chunks_ && left_bytes_ == 0) End();
}

Progress BodyReader::Feed(std::string_view bytes, std::size_t& consumed) {
  consumed = 0;
  if (progress_ != Progress::kMore) return progress_;
  if (chunks_) {
    FeedChunks(bytes, consumed);
  } else {
    FeedLength(bytes, consumed);
  }
  return progress_;
}

void BodyReader::FeedLength(std::string_view bytes, std::size_t& consumed) {
  const std::string_view data = bytes.substr(0, left_bytes_);
  consumed = data.size();
  left_bytes_ -= data.size();
  Add(data);
  if (progress_ == Progress::kMore && left_bytes_ == 0) End();
}

void BodyReader::FeedChunks(std::string_view bytes, std::size_t& consumed) {
  Progress chunks = Progress::kMore;
  while (progress_ == Progress::kMore && chunks == Progress::kMore && consumed < bytes.size()) {
    std::size_t taken = 0;
    std::string_view data;
    chunks = chunks_->Feed(bytes.substr(consumed), taken, data);
    consumed += taken;
    Add(data);
  }
  if (progress_ == Progress::kFault) return;
  if (chunks == Progress::kFault) Refuse(chunks_->refusal());
  if (chunks == Progress::kDone) End();
}

void BodyReader::Add(std::string_view data) {
  if (!inflater_) return AppendWithin(data, most_bytes_, body_);
  const Progress packed = inflater_->Feed(data, body_);
  if (packed == Progress::kFault) Refuse(inflater_->refusal());
  unpacked_ = packed == Progress::kDone;
}

void BodyReader::End() {
  if (inflater_ && !unpacked_) {
    return Refuse({"bad-request", "the gzip data of the body ends too early"});
  }
  inflater_.reset();
  progress_ = Progress::kDone;
}

void BodyReader::Refuse(Refusal refusal) {
  refusal_ = std::move(refusal);
  progress_ = Progress::kFault;
  inflater_.reset();
  body_.clear();
  body_.shrink_to_fit();
}

std::size_t BodyReader::held_bytes() const {
  return body_.capacity() + (inflater_ ? kInflaterBytes : 0);
}

}  // namespace stepscope
