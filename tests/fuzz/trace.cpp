// A trace file from anywhere: what becomes of it does not depend on how its bytes are cut, refers
// to nothing that is not there, and can be taken apart.

#include <algorithm>
#include <cstring>

#include "core/trace/convert.h"
#include "server/trace/answers/answers.h"
#include "tests/fuzz/fuzz.h"

namespace stepscope {
namespace {

constexpr TraceLimits kFew{.spans = 5'000,
                           .memory_events = 1'000,
                           .names = 500,
                           .name_bytes = 200,
                           .dictionary_bytes = 64 * 1024,
                           .details = 500,
                           .tracks = 50};

Trace Convert(std::string_view bytes, std::size_t piece) {
  return ConvertTrace(
      [&](std::span<char> into) {
        const std::size_t size = std::min({into.size(), bytes.size(), piece});
        if (size > 0) std::memcpy(into.data(), bytes.data(), size);
        bytes.remove_prefix(size);
        return size;
      },
      kFew);
}

void CheckIndices(const Trace& trace) {
  for (const TraceSpan& span : trace.spans) {
    Require(span.name < trace.names.size(), "a span has a name");
    Require(span.detail < trace.details.size(), "and a detail");
    Require(span.track < trace.tracks.size(), "and a track");
    Require(span.step == kNoStep || static_cast<std::size_t>(span.step) < trace.steps.size(),
            "and a step or none");
    Require(span.start_ns >= 0 && span.duration_ns >= 0, "and a time");
  }
  for (const SpanDetail& detail : trace.details) {
    for (const std::uint32_t name : {detail.grid, detail.block, detail.shapes, detail.types,
                                     detail.collective, detail.group}) {
      Require(name < trace.names.size(), "a detail has its names");
    }
  }
}

}  // namespace
}  // namespace stepscope

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace stepscope;
  const std::string_view bytes = ToBytes(data, size);
  const Trace whole = Convert(bytes, SIZE_MAX), cut = Convert(bytes, 1 + size % 17);
  CheckIndices(whole);
  Require(whole.spans.size() == cut.spans.size(), "cutting changes no spans");
  Require(whole.faults == cut.faults, "and no faults");
  (void)TakeApart(whole);
  (void)SummaryOf(whole);
  return 0;
}
