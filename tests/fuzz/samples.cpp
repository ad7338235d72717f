// Samples from anyone: accepted samples make frames as an agent's must be, with as many samples.

#include "server/ingest/check/read_samples.h"
#include "server/ingest/check/sample_frames.h"

#include <algorithm>

#include "server/ingest/check/check_table.h"
#include "tests/fuzz/fuzz.h"

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace stepscope;
  const std::string_view body = ToBytes(data, size);
  const auto read = ReadSamples(body);
  if (const auto* fault = std::get_if<SampleFault>(&read)) {
    Require(!fault->code.empty() && !fault->detail.empty(), "a fault has words", body);
    return 0;
  }
  const Samples& samples = std::get<Samples>(read);
  std::size_t sent = 0, kept = 0;
  for (const auto& series : samples.series) {
    sent += static_cast<std::size_t>(std::ranges::count(series.present, 1));
  }
  for (const CheckedFrame& frame : ToFrames(samples)) {
    TableFrame table = std::get<TableFrame>(frame.content);
    kept += table.samples;
    const Result<Schema> schema = DecodeSchema(*table.schema);
    Require(schema.ok() && !CheckSchema(FrameKind::kTicks, *schema), "a schema of ticks", body);
    Require(!CheckTable(*schema, table), "a table of ticks", body);
  }
  Require(kept > 0 && kept <= sent, "samples are kept, and none made up", body);
  return 0;
}
