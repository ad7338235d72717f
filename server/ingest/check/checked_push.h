#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "core/wire/frame.h"
#include "core/wire/push_answer.h"
#include "server/ingest/check/lifecycle.h"

namespace stepscope {

// A frame with a table that decodes and fits its schema.
struct TableFrame {
  FrameKind kind = FrameKind::kTicks;
  std::uint64_t schema_hash = 0;
  std::shared_ptr<const std::string> schema;  // encoded, when it rode along with this push
  std::int64_t schema_job_id = 0;             // otherwise the job that it was found with
  std::string payload;
  int rank = -1;
  std::int64_t from_us = 0, to_us = 0;
  std::size_t rows = 0, samples = 0;
  bool clock_suspect = false;
  // of spans:
  std::int64_t window_id = 0, first_step = 0, last_step = 0;
};

// A frame, checked: it can be stored, or it is refused with a reason while the cursor moves past
// it.
struct CheckedFrame {
  std::uint64_t sequence = 0;
  std::uint64_t last = 0;  // the highest number it stands for: above `sequence` for a lost range
  std::variant<TableFrame, Lifecycle, LostRange, RejectedFrame> content;
};

// The frames of one push: of one session, in order.
struct CheckedPush {
  std::string job, node, session;
  std::int64_t clock_offset_us = 0, round_trip_us = 0;
  std::vector<CheckedFrame> frames;
  std::string sender = {};  // name of the token; "" where tokens are not demanded
  bool numbered = true;  // false: each frame gets the next number of its stream when it is stored
  std::int64_t suspect_offset_us =
      0;  // offset of the newest frame whose clock was too far off; 0: none
};

// Why a push is refused as a whole.
struct PushRefusal {
  int status = 400;
  std::string code, detail;
};
PushRefusal BadFrame(std::string detail);
PushRefusal UnknownSchema(std::uint64_t sequence);  // `sequence`: the frame that needs it

RejectedFrame Rejected(std::uint64_t sequence, std::string code, std::string_view detail);

}  // namespace stepscope
