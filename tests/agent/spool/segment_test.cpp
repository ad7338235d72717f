#include "agent/spool/segment.h"

#include <gtest/gtest.h>

#include <vector>

namespace stepscope {
namespace {

std::vector<std::string> Payloads(std::string_view bytes) {
  std::vector<std::string> payloads;
  ScanSegment(bytes, [&](const SegmentRecord& record) { payloads.emplace_back(record.payload); });
  return payloads;
}

std::string WithFlipped(std::string bytes, std::size_t offset) {
  bytes[offset] = static_cast<char>(bytes[offset] ^ 1);
  return bytes;
}

std::string Record(std::string_view payload) {
  return EncodeRecord({.payload = payload});
}

TEST(Segment, ADamagedPayloadCostsItsRecordAlone) {
  const std::string torn = WithFlipped(Record("torn"), kRecordHeaderBytes);
  EXPECT_EQ(Payloads(Record("before") + torn + Record("behind")),
            (std::vector<std::string>{"before", "behind"}));
}

TEST(Segment, ADamagedLengthCostsItsRecordAlone) {
  const std::string torn = WithFlipped(Record("torn"), 1);
  EXPECT_EQ(Payloads(Record("before") + torn + Record("behind")),
            (std::vector<std::string>{"before", "behind"}));
}

TEST(Segment, ALengthThatLeadsTooFarHidesNoGoodRecord) {
  const std::string skipped = Record("skipped"), behind = Record("behind");
  std::string torn = Record("torn");
  torn[0] = static_cast<char>(torn[0] + skipped.size());
  EXPECT_EQ(Payloads(torn + skipped + behind), (std::vector<std::string>{"skipped", "behind"}));
}

TEST(Segment, ARecordForgedInADamagedPayloadSwallowsNotTheOneBehind) {
  const std::string behind = Record("behind");
  const std::string forged =
      Record("tail" + behind.substr(0, 10));  // complete only with the next record
  const std::string payload = forged.substr(0, kRecordHeaderBytes) + "tail";
  const std::string torn = WithFlipped(Record(payload), kRecordHeaderBytes - 1);
  EXPECT_EQ(Payloads(Record("before") + torn + behind),
            (std::vector<std::string>{"before", "behind"}));
}

TEST(Segment, SaysThatItsEndIsDamaged) {
  const std::string torn = Record("torn");
  EXPECT_FALSE(ScanSegment(torn, [](const SegmentRecord&) {}));
  EXPECT_TRUE(ScanSegment(torn.substr(0, torn.size() - 1), [](const SegmentRecord&) {}));
}

}  // namespace
}  // namespace stepscope
