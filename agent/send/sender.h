#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>

#include "agent/spool/frame_stream.h"
#include "core/base/clock.h"
#include "core/base/result.h"
#include "core/http/client.h"
#include "core/wire/push_answer.h"

namespace stepscope {

// What an answer to a push means.
enum class PushResponse {
  kTaken,          // stored, or moved past
  kGap,            // it wants another number
  kUnknownSchema,  // it wants the schema again
  kBadBody,        // some frame in it is bad
  kForbidden,      // the token
  kOver,           // the job has ended, or the node is retired: never again
  kSick,           // anything else: later
};

struct PushReading {
  PushResponse outcome = PushResponse::kSick;
  PushAnswer answer{};         // when taken
  std::uint64_t expected = 0;  // for a gap
  Duration retry_after{};      // 0 when the service did not say
  std::string reason{};        // one sentence, for people
  bool ours = false;           // a Stepscope service said it, not a proxy
};

// The table of the protocol: everything that is not clearly an answer of the service is kSick.
PushReading ReadPushAnswer(const Result<HttpAnswer>& answer);

// Sends the frames of a stream, one push at a time, and does what the answers ask for. What it
// meets is logged when it begins, changes and ends. For one thread. The references outlive
// it.
class Sender {
 public:
  using Post = std::function<Result<HttpAnswer>(std::string body)>;
  // What the service asks for, which it repeats until it is answered.
  using ExecuteCommand = std::function<void(const ServiceCommand& command)>;

  Sender(FrameStream& stream, Post post, const Clock& clock, ExecuteCommand obey = nullptr)
      : stream_(stream), post_(std::move(post)), clock_(clock), obey_(std::move(obey)) {}

  // Sends one push, if anything waits. Says how long to wait before the next call; 0 when more
  // waits and the service is well, and `kNothingWaits` when all is acknowledged.
  Duration Send();
  static constexpr Duration kNothingWaits = Duration::max();

  // The service wants nothing more of this session.
  bool over() const { return over_; }
  bool forbidden() const { return trouble_ == Trouble::kForbidden; }
  // Why the last push was not taken; "" when it was.
  const std::string& reason() const { return reason_; }

 private:
  enum class Trouble { kNone, kSick, kForbidden };

  Duration Take(const PushReading& reading, const Push& push);
  Duration TakeRejected(const PushReading& reading, const Push& push);
  Duration Halve(const PushReading& reading, const Push& push);
  static void LogRefused(std::uint64_t number, std::string_view reason, std::string_view kept);
  Duration GiveSchema(const PushReading& reading, const Push& push);
  Duration FollowGap(const PushReading& reading);
  Duration End(std::string_view reason);
  Duration Retry(Trouble trouble, std::string_view reason, Duration retry_after = {});
  void LogTrouble(Trouble trouble);
  void NoteWell();

  FrameStream& stream_;
  const Post post_;
  const Clock& clock_;
  const ExecuteCommand obey_;
  std::size_t most_frames_ = kMaxFramesPerPush;
  std::uint64_t schema_given_ = 0;  // up to this number frames carry their schema
  std::uint64_t highest_sent_ = 0;
  int failures_ = 0;  // in a row
  int gaps_ = 0;      // in a row
  Trouble trouble_ = Trouble::kNone;
  bool over_ = false;
  std::string reason_;
  std::string logged_reason_;
  SteadyTime logged_at_{};
};

}  // namespace stepscope
