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

// The meaning of an answer to a push.
enum class PushResponse {
  kTaken,          // stored, or skipped
  kGap,            // the service wants another number
  kUnknownSchema,  // the service wants the schema again
  kBadBody,        // a frame in it is bad
  kForbidden,      // the token is refused
  kOver,           // the job has ended, or the node is retired: never again
  kSick,           // anything else: try again later
};

struct PushReading {
  PushResponse outcome = PushResponse::kSick;
  PushAnswer answer{};         // for kTaken
  std::uint64_t expected = 0;  // for kGap
  Duration retry_after{};      // 0 when the answer has none
  std::string reason{};        // one sentence, for people
  bool ours = false;           // from a Stepscope service, not a proxy
};

// The table of the protocol: any answer that is not clearly the service's is kSick.
PushReading ReadPushAnswer(const Result<HttpAnswer>& answer);

// Sends the frames of a stream, one push at a time, and acts on the answers. Troubles are logged
// when they begin, change and end. For one thread. The references outlive it.
class Sender {
 public:
  using Post = std::function<Result<HttpAnswer>(std::string body)>;
  // Executes a command of the service, which repeats it until it is answered.
  using ExecuteCommand = std::function<void(const ServiceCommand& command)>;

  Sender(FrameStream& stream, Post post, const Clock& clock, ExecuteCommand obey = nullptr)
      : stream_(stream), post_(std::move(post)), clock_(clock), obey_(std::move(obey)) {}

  // Sends one push, if anything waits. Returns how long to wait before the next call; 0 when more
  // waits and the service is well, and `kNothingWaits` when all is acknowledged.
  Duration Send();
  static constexpr Duration kNothingWaits = Duration::max();

  // Whether the service wants nothing more of this session.
  bool over() const { return over_; }
  bool forbidden() const { return trouble_ == Trouble::kForbidden; }
  // The reason why the last push was not accepted; "" when it was.
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
  std::uint64_t schema_given_ = 0;  // frames up to this number carry their schema
  std::uint64_t highest_sent_ = 0;
  int failures_ = 0;  // successive failures
  int gaps_ = 0;      // successive gaps
  Trouble trouble_ = Trouble::kNone;
  bool over_ = false;
  std::string reason_;
  std::string logged_reason_;
  SteadyTime logged_at_{};
};

}  // namespace stepscope
