#pragma once

#include <cstddef>
#include <functional>
#include <string>

#include "core/base/may_wait.h"
#include "core/base/time.h"
#include "server/edge/http/message.h"

namespace stepscope {

// The share of the workers, and of their queue, that requests of one kind may take together.
enum class Lane {
  kAll,
  kMost,  // three quarters: for what waits long, so that others always find a worker
};
inline constexpr std::size_t kLanes = 2;

// The decision about a request when only its head has come.
struct HeadVerdict {
  enum Kind {
    kPass,    // read the body, then answer
    kRefuse,  // send `refusal`; the body is not read
    kAsk,     // the question needs a database: put it to `ask`
  };
  Kind kind = kPass;
  Reply refusal = {};
  std::size_t most_body = 0;  // bytes the body may have, after it was decoded
  bool to_file = false;       // a large body goes to a file, and not to memory
  std::string whose = {};     // and counts against the share of this sender; "": of nobody known
  Lane lane = Lane::kAll;     // where a worker answers it, or asks
  bool at_once = false;       // the edge's own thread may try to answer before a worker does
  Duration answer_within{};   // how long the answer may take; 0: as the edge's options say
};

// Takes the reply to one request, from any thread, also after the edge is gone. Only the first
// reply counts.
using Respond = std::function<void(Reply)>;

// Answers a request. It may keep `respond` for when the reply is there, so that no worker waits for
// it meanwhile; a reply that never comes is a timeout. False only where it may not wait and
// would have to: nothing was done then, and the request is as it was.
using AnswerRequest = std::function<bool(Request&, const Respond&, MayWait)>;

// The functions that the edge calls for each request. It knows nothing of what they decide; each
// may change the head (set its caller, drop headers). All are called from several threads at once,
// and none throws.
struct EdgeHandlers {
  std::function<HeadVerdict(Request& head)> check_head;  // on the edge's own thread: never waits
  std::function<HeadVerdict(Request& head)> ask;         // on a worker: passes or refuses
  // Only requests that passed. On a worker it may wait; on the edge's own thread, where the verdict
  // says `at_once`, it may not.
  AnswerRequest answer;
  // The answer to bytes that could not be read as a request, or not in time. On the edge's thread.
  std::function<Reply(const Request&, std::string code, std::string detail)> fault;
};

}  // namespace stepscope
