// Frames, pushes and schemas from outside. A frame's last four bytes are its CRC: the target puts
// the right one there when the first byte is odd, so that more than the CRC is tried.

#include "core/wire/frame.h"

#include "core/wire/bytes.h"
#include "core/wire/crc32c.h"
#include "core/wire/table_codec.h"
#include "tests/fuzz/fuzz.h"

namespace stepscope {
namespace {

constexpr TableLimits kLimits{.rows = 600, .columns = 200, .cells = 20'000};

void CheckFrame(std::string_view bytes) {
  const Result<Frame> frame = DecodeFrame(bytes);
  if (!frame) return;
  const Result<FrameHead> head = PeekHead(bytes);
  Require(head.ok() && head->sequence == frame->head.sequence, "a good frame can be peeked into");
  const std::string encoded = EncodeFrame(*frame);
  const Result<Frame> again = DecodeFrame(encoded);
  Require(again.ok(), "an encoded frame reads again");
  RequireSame(EncodeFrame(*again), encoded, "and is the same");
  (void)DecodeTable(frame->payload, kLimits);
}

void CheckSchema(std::string_view bytes) {
  const Result<Schema> schema = DecodeSchema(bytes);
  if (!schema) return;
  const Result<Schema> again = DecodeSchema(EncodeSchema(*schema));
  Require(again.ok() && *again == *schema, "a schema reads again as the same");
}

void CheckPush(std::string_view bytes) {
  const auto frames = SplitPush(bytes);
  if (!frames) return;
  std::string push;
  for (const std::string_view frame : *frames) {
    AppendToPush(push, frame);
    (void)PeekHead(frame);
  }
  RequireSame(push, bytes, "the frames of a push make the push");
}

}  // namespace
}  // namespace stepscope

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace stepscope;
  if (size == 0) return 0;
  std::string bytes(ToBytes(data, size).substr(1));
  CheckSchema(bytes);
  CheckPush(bytes);
  if ((data[0] & 1) != 0) Put(bytes, Crc32c(bytes));
  CheckFrame(bytes);
  return 0;
}
