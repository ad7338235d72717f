// Segments of the spool after damage: any bytes are read to their end, and the records found can be
// written again. With an odd first byte the rest is the payload of a good record between others.

#include "agent/spool/segment.h"

#include <vector>

#include "tests/fuzz/fuzz.h"

namespace stepscope {
namespace {

std::vector<std::string> Scan(std::string_view bytes) {
  std::vector<std::string> records;
  ScanSegment(bytes, [&](const SegmentRecord& record) {
    Require(record.offset + record.payload.size() <= bytes.size(), "a record lies in the segment");
    (void)DecodeHead(record.payload);
    records.push_back(EncodeRecord(record));
  });
  return records;
}

void CheckScan(std::string_view bytes) {
  std::string good;
  const auto records = Scan(bytes);
  for (const std::string& record : records) good += record;
  Require(Scan(good) == records, "good records read again as the same");
}

void CheckAmongOthers(std::string_view payload) {
  const std::string head = EncodeHeadRecord({.job = "job-1", .node = "node-1"}, 1);
  const std::string record = EncodeRecord({.number = 7, .payload = payload});
  std::string torn = record;
  torn.back() = static_cast<char>(torn.back() ^ 1);
  const auto found = Scan(head + torn + record);
  Require(!found.empty() && found.front() == head, "what comes before damage is read");
  Require(found.back() == record, "and so is what comes behind it");
}

}  // namespace
}  // namespace stepscope

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace stepscope;
  if (size == 0) return 0;
  const std::string_view bytes = ToBytes(data, size).substr(1);
  if ((data[0] & 1) != 0) {
    CheckAmongOthers(bytes);
  } else {
    CheckScan(bytes);
  }
  return 0;
}
