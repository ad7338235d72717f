// Bodies of samples that are taken, and the faults of others.

#include <gtest/gtest.h>

#include "core/base/text.h"
#include "core/wire/table_codec.h"
#include "server/ingest/check/check_table.h"
#include "server/ingest/check/read_samples.h"
#include "server/ingest/check/sample_frames.h"

namespace stepscope {
namespace {

constexpr std::int64_t kFirstUs = 1'795'205'614'000'000;

std::string BodyOf(const std::string& times, const std::string& series) {
  return Format(R"({{"node":"n1","times_us":[{}],"series":[{}]}})", times, series);
}
std::string SeriesOf(const std::string& values, const std::string& metric = "user.loss") {
  return Format(R"({{"metric":"{}","values":[{}]}})", metric, values);
}

Samples Read(const std::string& body) {
  auto read = ReadSamples(body);
  const auto* fault = std::get_if<SampleFault>(&read);
  EXPECT_EQ(fault, nullptr) << fault->pointer << ": " << fault->detail;
  return fault ? Samples() : std::get<Samples>(std::move(read));
}

// The tables as a reader decodes them, each held against what a frame of an agent has to be.
std::vector<Table> TablesOf(const std::string& body) {
  std::vector<Table> tables;
  for (const CheckedFrame& frame : ToFrames(Read(body))) {
    TableFrame made = std::get<TableFrame>(frame.content);
    const Schema schema = DecodeSchema(*made.schema).value();
    EXPECT_FALSE(CheckSchema(FrameKind::kTicks, schema));
    EXPECT_FALSE(CheckTable(schema, made));
    EXPECT_EQ(HashSchema(schema), made.schema_hash);
    EXPECT_LE(made.payload.size(), kMaxFrameBytes);
    tables.push_back(DecodeTable(made.payload).value());
  }
  return tables;
}

void ExpectFault(const std::string& body, const std::string& pointer, const std::string& words,
                 const std::string& code = "invalid-body") {
  const auto read = ReadSamples(body);
  const auto* fault = std::get_if<SampleFault>(&read);
  ASSERT_NE(fault, nullptr) << body.substr(0, 200);
  EXPECT_EQ(fault->code, code) << fault->detail;
  EXPECT_EQ(fault->pointer, pointer) << fault->detail;
  EXPECT_NE(fault->detail.find(words), std::string::npos) << fault->detail;
}

TEST(ReadSamples, TakesColumnsInAnyOrderOfMembers) {
  const Samples samples = Read(Format(
      R"({{"series":[{{"values":[1,null,2.5],"device":"gpu0","metric":"gpu_util_percent"}}],
          "times_us":[{0},{1},{2}],"node":"é"}})",
      kFirstUs, kFirstUs + 1, kFirstUs + 2));
  EXPECT_EQ(samples.node, "é");
  EXPECT_EQ(samples.times_us.size(), 3U);
  ASSERT_EQ(samples.series.size(), 1U);
  EXPECT_EQ(samples.series[0].name, (SeriesName{"gpu_util_percent", "gpu0"}));
  EXPECT_EQ(samples.series[0].values, (std::vector<double>{1, 0, 2.5}));
  EXPECT_EQ(samples.series[0].present, (std::vector<std::uint8_t>{1, 0, 1}));
  EXPECT_EQ(samples.series[0].decimals, 1);
}

TEST(ToFrames, SortsAndTheFirstValueOfAnInstantWins) {
  const std::string times =
      Format("{},{},{},{}", kFirstUs + 2, kFirstUs, kFirstUs + 2, kFirstUs + 1);
  const auto tables = TablesOf(
      BodyOf(times, SeriesOf("null,1,3,null", "user.b") + "," + SeriesOf("7,8,9,null", "user.a")));
  ASSERT_EQ(tables.size(), 1U);
  const auto& columns = tables[0].columns;
  EXPECT_EQ(columns[0].values, (std::vector<std::int64_t>{kFirstUs, kFirstUs + 2}));
  EXPECT_EQ(columns[1].values, (std::vector<std::int64_t>{8, 7}));  // user.a stands first
  EXPECT_EQ(columns[2].values, (std::vector<std::int64_t>{1, 3}));
}

TEST(ToFrames, KeepsDecimalsAsTheyAreWritten) {
  const auto tables = TablesOf(BodyOf(
      Format("{},{}", kFirstUs, kFirstUs + 1),
      SeriesOf("41.27,-0.5", "user.a") + "," + SeriesOf("9007199254740992,-1", "user.b") + "," +
          SeriesOf("2.302585092994046,1e-3", "user.c") + "," + SeriesOf("9e18,1.5", "user.d")));
  const auto& columns = tables.at(0).columns;
  EXPECT_EQ(columns[1].scale, 2);
  EXPECT_EQ(columns[1].values, (std::vector<std::int64_t>{4127, -50}));
  EXPECT_EQ(columns[2].values, (std::vector<std::int64_t>{9'007'199'254'740'992, -1}));
  EXPECT_EQ(columns[3].scale, 8);
  EXPECT_EQ(columns[3].values, (std::vector<std::int64_t>{230'258'509, 100'000}));
  EXPECT_EQ(columns[4].values, (std::vector<std::int64_t>{9'000'000'000'000'000'000, 2}));
}

TEST(ToFrames, CutsALongPush) {
  std::string times, values;
  for (int i = 0; i < 1'300; ++i) {
    times += (i ? "," : "") + std::to_string(kFirstUs + i * 1'000);
    values += (i ? "," : "") + std::to_string(i);
  }
  const auto tables = TablesOf(BodyOf(times, SeriesOf(values)));
  ASSERT_EQ(tables.size(), 3U);
  EXPECT_EQ(tables[0].rows, kMaxRowsPerFrame);
  EXPECT_EQ(tables[2].rows, 100U);
  EXPECT_EQ(tables[2].columns[1].values.back(), 1'299);
}

TEST(ToFrames, ManySeriesMakeShortFrames) {
  std::string times = std::to_string(kFirstUs), values = "9007199254740991", series;
  for (int i = 1; i < 20; ++i) {
    times += "," + std::to_string(kFirstUs + i);
    values += "," + std::to_string(9'007'199'254'740'991 - (std::int64_t{1} << (i * 2)));
  }
  for (int i = 0; i < 8'000; ++i) {
    series += (i ? "," : "") + SeriesOf(values, "user.s" + std::to_string(i));
  }
  series.resize(3'900'000);
  series.resize(series.rfind("},") + 1);
  EXPECT_GT(TablesOf(BodyOf(times, series)).size(), 1U);
}

TEST(ReadSamples, NamesTheMemberThatIsWrong) {
  const std::string t = std::to_string(kFirstUs), one = SeriesOf("1");
  ExpectFault("", "", "syntax error");
  ExpectFault("[]", "", "object");
  ExpectFault("3", "", "object");
  ExpectFault("{}", "", "'node'");
  ExpectFault(R"({"node":"n"})", "", "'times_us'");
  ExpectFault(R"({"node":"n","times_us":[1795205614000000]})", "", "'series'");
  ExpectFault(R"({"node":3})", "/node", "text");
  ExpectFault(R"({"node":null})", "/node", "text");
  ExpectFault(R"({"node":""})", "/node", "63");
  ExpectFault(R"({"node":"a\nb"})", "/node", "control");
  ExpectFault(Format(R"({{"node":"{}"}})", std::string(64, 'n')), "/node", "63");
  ExpectFault(R"({"times_us":{}})", "/times_us", "list");
  ExpectFault(R"({"times_us":7})", "/times_us", "list");
  ExpectFault(R"({"job":"x"})", "", "'job'");
  ExpectFault(BodyOf("", SeriesOf("")), "/times_us", "no times");
  ExpectFault(BodyOf(t, ""), "/series", "no series");
  ExpectFault(BodyOf(t, "7"), "/series/0", "object");
  ExpectFault(BodyOf(t, one + ",[]"), "/series/1", "object");
  ExpectFault(BodyOf(t, "{}"), "/series/0", "'metric'");
  ExpectFault(BodyOf(t, R"({"metric":"user.a"})"), "/series/0", "'values'");
  ExpectFault(BodyOf(t, R"({"metric":"user.a","rank":0,"values":[1]})"), "/series/0", "'rank'");
  ExpectFault(BodyOf(t, R"({"metric":null,"values":[1]})"), "/series/0/metric", "text");
  ExpectFault(BodyOf(t, R"({"metric":"user.a","device":0,"values":[1]})"), "/series/0/device",
              "text");
  ExpectFault(BodyOf(t, R"({"metric":"user.a","device":"a\tb","values":[1]})"), "/series/0/device",
              "control");
  ExpectFault(BodyOf(t, R"({"metric":"user.a","values":1})"), "/series/0/values", "list");
  ExpectFault(BodyOf(t, one + "," + one), "/series/1", "twice");
  ExpectFault(BodyOf(t, SeriesOf("null")), "/series", "null");
}

TEST(ReadSamples, HoldsValuesAndTimesToTheirBounds) {
  const std::string t = std::to_string(kFirstUs);
  ExpectFault(BodyOf(t + "," + t, SeriesOf("1")), "/series/0/values", "1 values, there are 2");
  ExpectFault(BodyOf(t, SeriesOf("1,2")), "/series/0/values", "2 values, there are 1");
  for (const char* value : {"\"1\"", "true", "[1]", "{}"}) {
    ExpectFault(BodyOf(t, SeriesOf(value)), "/series/0/values/0", "number or null");
  }
  for (const char* value : {"NaN", "Infinity", "-", "01", "+1", ".5", "1e999", "-1e999"}) {
    ExpectFault(BodyOf(t, SeriesOf(value)), "", "JSON: ");
  }
  for (const char* value : {"9223372036854775808", "-9223372036854775808", "9007199254740993"}) {
    ExpectFault(BodyOf(t, SeriesOf(value)), "", "2^53");
  }
  for (const char* value : {"9.3e18", "-1e300", "100000000000000000000"}) {
    ExpectFault(BodyOf(t, SeriesOf(value)), "/series/0/values/0", "9e18");
  }
  for (const char* time : {"0", "-1", "946684799999999", "4102444800000000", "1795205614"}) {
    ExpectFault(BodyOf(t + "," + time, SeriesOf("1,2")), "/times_us/1", "2000 to 2099");
  }
  for (const char* time : {"1795205614000000.0", "1.7e15", "\"2026-11-20\"", "null"}) {
    ExpectFault(BodyOf(time, SeriesOf("1")), "/times_us/0", "microseconds");
  }
}

TEST(ReadSamples, HoldsMetricsToTheTable) {
  const std::string t = std::to_string(kFirstUs);
  for (const char* metric : {"node_cpu_precent", "at_us", "user.", "user.a b", "", "user.é"}) {
    ExpectFault(BodyOf(t, SeriesOf("1", metric)), "/series/0/metric", "is not known",
                "unknown-metric");
  }
}

TEST(ReadSamples, IsNotKeptBusyByWhatIsTooMuch) {
  const std::string t = std::to_string(kFirstUs);
  std::string series, times = t;
  for (int i = 0; i < 100'000; ++i) series += (i ? "," : "") + SeriesOf("1", "user.a");
  ExpectFault(BodyOf(t, series), "/series", "more than 20000 series");
  for (int i = 1; i < 153'600; ++i) times += "," + t;
  series.clear();
  for (int i = 0; i < 20'000; ++i) series += (i ? "," : "") + SeriesOf("", "user.a");
  ExpectFault(BodyOf(times, series), "/series", "more than 2000000 values");
  for (int i = 0; i < 6'400; ++i) times += "," + t;
  ExpectFault(BodyOf(times, ""), "/times_us", "more than 153600 times");
  ExpectFault(std::string(5'000'000, ' '), "", "at most 4194304");
  ExpectFault(std::string(100'000, '['), "", "object");  // wrong at once, whatever follows
  ExpectFault(R"({"x":)" + std::string(100'000, '['), "", "'x'");
  ExpectFault(R"({"node":"a","node":"b"})", "", "twice");
  ExpectFault(BodyOf(t, R"({"metric":"user.a","metric":"user.b","values":[1]})"), "", "twice");
}

std::string TimesEvery(std::int64_t us, int rows) {
  std::string times;
  for (int i = 0; i < rows; ++i) times += (i ? "," : "") + std::to_string(kFirstUs + i * us);
  return times;
}
// Devices of a metric with a value in each `one_of`-th row.
std::string DevicesOf(const std::string& metric, int devices, int rows, int one_of = 1) {
  std::string values, series;
  for (int i = 0; i < rows; ++i) values += Format("{}{}", i ? "," : "", i % one_of ? "null" : "1");
  for (int i = 0; i < devices; ++i) {
    series += Format(R"({}{{"metric":"{}","device":"{}","values":[{}]}})", i ? "," : "", metric, i,
                     values);
  }
  return series;
}

// Ranks that send each step at an instant of their own, one soon after the other.
std::string BodyOfRanks(int ranks, int steps, std::int64_t step_us) {
  std::string times, series;
  for (int i = 0; i < ranks * steps; ++i) {
    times += Format("{}{}", i ? "," : "", kFirstUs + i / ranks * step_us + i % ranks * 160);
  }
  for (int rank = 0; rank < ranks; ++rank) {
    std::string values;
    for (int i = 0; i < ranks * steps; ++i) {
      values += Format("{}{}", i ? "," : "", i % ranks == rank ? "1" : "null");
    }
    series += Format(R"({}{{"metric":"user.loss","device":"{}","values":[{}]}})", rank ? "," : "",
                     rank, values);
  }
  return BodyOf(times, series);
}

TEST(ReadSamples, RefusesWhatBlocksHaveNoRoomFor) {
  ExpectFault(BodyOf(TimesEvery(100, 15'000), DevicesOf("user.a", 1, 15'000)), "/series/0",
              "user.a: more than 1048576 instants in 600 s cannot be kept");
  ExpectFault(BodyOf(TimesEvery(100, 150'000), DevicesOf("user.a", 1, 150'000)), "/times_us",
              "more than 1048576 instants in 600 s cannot be kept");
  ExpectFault(BodyOf(TimesEvery(500'000, 4),
                     DevicesOf("user.a", 9, 4) + "," + DevicesOf("user.b", 14'000, 4)),
              "/series/9",
              "user.b: more than 1198 instants in 600 s cannot be kept of 14000 devices");
}

TEST(ReadSamples, TakesWhatBlocksHaveRoomFor) {
  Read(BodyOf(TimesEvery(573, 5'000), DevicesOf("user.a", 1, 5'000)));
  Read(BodyOf(TimesEvery(500'000, 4), DevicesOf("user.a", 13'980, 4)));
  Read(BodyOf(TimesEvery(1, 500), DevicesOf("user.a", 10, 500)));  // a burst
  Read(BodyOf(TimesEvery(1'000, 100), DevicesOf("user.a", 100, 100)));
  // Many devices with few samples beside a few devices with many.
  Read(BodyOf(TimesEvery(10'000, 200),
              DevicesOf("user.a", 1'000, 200, 50) + "," + DevicesOf("user.b", 1, 200)));
}

TEST(ToFrames, OfWhatIsTakenAreWithinTheRoomOfBlocks) {
  TablesOf(BodyOfRanks(300, 2, 5'000'000));
  TablesOf(
      BodyOf(TimesEvery(1, 500) + "," + TimesEvery(600'000, 700), DevicesOf("user.a", 3, 1'200)));
  TablesOf(BodyOf(TimesEvery(10'000, 200),
                  DevicesOf("user.a", 1'000, 200, 50) + "," + DevicesOf("user.b", 1, 200)));
}

TEST(ReadSamples, RefusesABodyThatIsCutAnywhere) {
  const std::string body =
      BodyOf(std::to_string(kFirstUs) + ",1795205614000001",
             R"({"metric":"gpu_util_percent","device":"gpu0","values":[1.5,null]})");
  Read(body);
  for (std::size_t length = 0; length < body.size(); ++length) {
    EXPECT_TRUE(std::holds_alternative<SampleFault>(ReadSamples(body.substr(0, length)))) << length;
  }
}

}  // namespace
}  // namespace stepscope
