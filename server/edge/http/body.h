#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "server/edge/http/chunks.h"
#include "server/edge/http/head.h"
#include "server/edge/http/inflate.h"

namespace stepscope {

struct BodyLimits {
  std::uint64_t most_bytes = 4 * 1024 * 1024;  // as sent, without the framing of chunks
  InflateLimits inflate;                       // for a packed body
};

// Reads the body that a head announces from any pieces of its bytes, takes off chunks and unpacks.
// A declared length beyond the limit is refused before a byte is read. Memory grows with what came,
// never with what was announced. The outcome does not depend on how the bytes are cut.
class BodyReader {
 public:
  BodyReader(const Head& head, const BodyLimits& limits);

  // kDone from the start when there is no body, kFault when it is refused unread.
  Progress progress() const { return progress_; }

  // Takes a beginning of `bytes` and says how much. Bytes behind the body stay the caller's.
  Progress Feed(std::string_view bytes, std::size_t& consumed);

  std::string Take() { return std::move(body_); }  // after kDone
  // What has come so far, at any time; the rest follows.
  std::string TakePart() { return std::exchange(body_, {}); }
  std::size_t part_bytes() const { return body_.size(); }
  const Refusal& refusal() const { return refusal_; }  // after kFault

  // Memory that is held for this body.
  std::size_t held_bytes() const;

 private:
  void FeedLength(std::string_view bytes, std::size_t& consumed);
  void FeedChunks(std::string_view bytes, std::size_t& consumed);
  void Add(std::string_view data);
  void End();
  void Refuse(Refusal refusal);

  std::uint64_t most_bytes_;
  std::uint64_t left_bytes_;  // what is left of Content-Length
  std::optional<ChunkReader> chunks_;
  std::optional<Inflater> inflater_;
  bool unpacked_ = false;  // the packed data is complete
  std::string body_;
  Progress progress_ = Progress::kMore;
  Refusal refusal_;
};

}  // namespace stepscope
