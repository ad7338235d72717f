#pragma once

#include <cstddef>
#include <functional>
#include <optional>
#include <string_view>
#include <variant>
#include <vector>

#include "core/base/may_wait.h"
#include "core/wire/frame.h"
#include "server/ingest/check/checked_push.h"
#include "server/ingest/check/schema_memory.h"

namespace stepscope {

// The schema of a hash, or null when it is not known; an error when the database cannot say.
using KnownSchema = SchemaMemory::Known;
using RecallSchema = std::function<KnownSchema(const FrameHead& head)>;        // from memory
using LoadSchema = std::function<Result<KnownSchema>(const FrameHead& head)>;  // from the database

// A push whose frames are decoded and of one session. Their payloads are not checked yet.
struct ReceivedPush {
  struct Part {
    std::uint64_t sequence = 0;
    std::variant<Frame, RejectedFrame> frame;
    KnownSchema schema = {};  // null where it rides along, or has to be loaded
  };

  CheckedPush push;  // job, node, session and clock; its frames come later
  std::vector<Part> parts;
  std::size_t bytes = 0;
  bool opens = false;                       // its session begins, and the job may be new
  std::optional<PushRefusal> refusal = {};  // why the push is refused as a whole
};

// Where it may not wait, nothing for a push that takes long to check or needs the database: for one
// that is not small, and for one with a schema that memory does not have.
std::optional<ReceivedPush> ReceivePush(std::string_view body, const RecallSchema& recall,
                                        MayWait may_wait);

}  // namespace stepscope
