// Bytes that a training process may write: messages on the socket, and the ring that it shares with
// us. The phases of a step never add up to more than the step.

#include <algorithm>
#include <numeric>

#include "agent/marks/marks_fold.h"
#include "agent/marks/marks_ring.h"
#include "core/wire/mark_message.h"
#include "tests/fuzz/fuzz.h"
#include "tests/support/mark_writer.h"

namespace stepscope {
namespace {

void CheckMessage(std::string_view bytes) {
  const Result<MarkMessage> message = DecodeMarkMessage(bytes);
  if (!message || std::holds_alternative<MarkUnknown>(*message)) return;
  const std::string encoded = EncodeMarkMessage(*message);
  const Result<MarkMessage> again = DecodeMarkMessage(encoded);
  Require(again.ok(), "an encoded message reads again");
  RequireSame(EncodeMarkMessage(*again), encoded, "and is the same");
}

void Fold(const Mark& mark, Duration clock_base, StepFold& fold) {
  (void)WallTime(mark, clock_base);
  if (mark.after_loss) fold.Cut();
  if (mark.kind == MarkKind::kPhase) fold.AddPhase(mark);
  if (mark.kind != MarkKind::kStep) return;
  const Step* const step = fold.End(mark, clock_base);
  if (!step) return;
  const Duration phases = std::accumulate(step->phases.begin(), step->phases.end(), Duration{});
  Require(phases <= step->wall, "the phases of a step are within it");
}

// The bytes are the slots of a ring, filled as far as they go; the first one is the writer's
// position.
void CheckRing(std::string_view bytes) {
  constexpr std::size_t kSlots = 64;
  testing_support::RingWriter ring(kSlots);
  const std::size_t size = std::min(bytes.size(), kSlots * kRingSlotBytes);
  std::memcpy(ring.words + kRingHeaderBytes / 8, bytes.data(), size);
  Result<MarkRingReader> reader = MarkRingReader::Map(ring.memory);
  Require(reader.ok(), "a sealed ring of the right size is taken");
  ring.words[kRingWriteWord] = static_cast<unsigned char>(bytes[0]) % (kSlots + 2);
  StepFold fold(false);
  std::size_t marks = 0;
  const auto take = [&](const Mark& mark) {
    Fold(mark, reader->clock_base(), fold);
    ++marks;
  };
  reader->Read(take, 2 * kSlots);
  Require(marks <= kSlots, "at most one ring full of marks comes out");
}

}  // namespace
}  // namespace stepscope

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0) return 0;
  const std::string_view bytes = stepscope::ToBytes(data, size);
  stepscope::CheckMessage(bytes);
  stepscope::CheckRing(bytes);
  return 0;
}
