// Trace files over HTTP: in, and what is computed of them out.

#include "core/wire/compress.h"
#include "tests/server/api/api_test.h"
#include "tests/support/gzipped.h"
#include "tests/support/trace/made_trace.h"

namespace stepscope {
namespace {

constexpr char kTraces[] = "/api/v1/jobs/mlp/traces";
constexpr char kOctets[] = "Content-Type: application/octet-stream\r\n";
constexpr char kMlpWindows[] = "/api/v1/jobs/mlp/windows";

// A step with two kernels, the second of which begins 30 us after the first.
std::vector<MadeEvent> Events(double shift = 0) {
  return {
      {"user_annotation", "ProfilerStep#7", "1", "1", 1 + shift, 400},
      {"cpu_op", "aten::mm", "1", "1", 10 + shift, 50,
       "\"External id\": 3, \"Input Dims\": [[2, 3]]"},
      {"cuda_runtime", "cudaLaunchKernel", "1", "1", 20 + shift, 5, "\"correlation\": 8"},
      {"kernel", "sgemm", "0", "7", 100 + shift, 50,
       "\"External id\": 3, \"correlation\": 8, \"device\": 0"},
      {"kernel", "relu", "0", "7", 180 + shift, 20, "\"correlation\": 9, \"device\": 0"},
  };
}
std::string TraceOfRank(int rank, double shift = 0) {
  return TraceText(Events(shift),
                   Format("\"distributedInfo\": {{\"rank\": {}}}, \"baseTimeNanoseconds\": {}",
                          rank, kStartUs * 1000));
}

class TracesTest : public ApiTest {
 protected:
  TracesTest() { Create("mlp"); }

  std::string Import(const std::string& body, const std::string& query = "") {
    return service_.Ask("POST", kTraces + query, body, kOctets);
  }
  Json Get(const std::string& rest) { return service_.GetJson(kMlpWindows + rest); }
};

TEST_F(TracesTest, OfAWindowThatWasAskedForComesWithWhatItCost) {
  TestAgent agent("mlp");
  Push(agent.StartedAllowing({"interval", "spans"}, kStartUs));
  const std::string asked = R"({"what":"operators","start_step":7,"num_steps":1})";
  ExpectProblem(service_.Post(kMlpWindows, asked), 409, "conflict", "records operators");
  TestAgent able("mlp", "host-2");
  Push(able.StartedAllowing({"interval", "spans", "window"}, kStartUs));
  const std::string made = service_.Post(kMlpWindows, asked);
  ASSERT_EQ(StatusOf(made), 201) << made;
  EXPECT_EQ(ApiService::JsonOf(made)["what"], "operators");
  EXPECT_EQ(ApiService::JsonOf(made)["shapes"], false);
  EXPECT_EQ(StatusOf(service_.Get(std::string(kMlpWindows) + "/1/operators")), 404) << "none yet";
  const std::string query =
      "?window=1&rank=3&first_step=7&steps=1&start_us=900&stop_us=1200&save_us=3500";
  ASSERT_EQ(StatusOf(Import(TraceOfRank(3), query)), 201);
  const Json capture = Get("/1")["traces"][0]["capture"];
  EXPECT_EQ(capture["first_step"], 7);
  EXPECT_EQ(capture["stop_seconds"], 0.0012);
  EXPECT_EQ(capture["note"], "");
  EXPECT_EQ(Get("/1/operators")["operators"][0]["name"], "aten::mm");
  EXPECT_EQ(StatusOf(Import(TraceOfRank(3, 9), query)), 409) << "one of a rank";
}

TEST_F(TracesTest, RanksWhoseScriptAskedForTheSameStepsMakeOneWindow) {
  const std::string query = "&first_step=7&steps=1&by=script&slower_us=2500";
  ASSERT_EQ(StatusOf(Import(TraceOfRank(0), "?rank=0" + query)), 201);
  ASSERT_EQ(StatusOf(Import(TraceOfRank(1), "?rank=1" + query)), 201);
  const Json window = Get("/1");
  EXPECT_EQ(window["what"], "operators");
  EXPECT_EQ(window["asked_by"], "script");
  EXPECT_EQ(window["start_step"], 7);
  EXPECT_EQ(window["traces"].size(), 2u);
  EXPECT_EQ(window["traces"][1]["capture"]["slower_seconds"], 0.0025);
  ASSERT_EQ(StatusOf(Import(TraceOfRank(0, 5), "?rank=0" + query)), 201);
  EXPECT_EQ(Get("")["items"].size(), 2u) << "a second run of the same steps";
  ASSERT_EQ(StatusOf(Import(TraceOfRank(1, 6), "?rank=1&first_step=7&steps=1&by=schedule")), 201);
  EXPECT_EQ(Get("/3")["asked_by"], "schedule");
  EXPECT_EQ(StatusOf(Import(TraceOfRank(1, 8), "?by=person")), 400);
}

TEST_F(TracesTest, AStepThatWasNotRecordedWholeIsNoStep) {
  auto events = Events();
  events.push_back({"user_annotation", "ProfilerStep#8", "1", "1", 401, 2});
  const std::string text = TraceText(events, "\"distributedInfo\": {\"rank\": 0}");
  ASSERT_EQ(StatusOf(Import(text, "?first_step=7&steps=1&by=start_profiling")), 201);
  EXPECT_EQ(Get("/1")["traces"][0]["step_count"], 1);
  EXPECT_EQ(Get("/1")["num_steps"], 1);
}

TEST_F(TracesTest, TwoWindowsAreCompared) {
  Import(TraceOfRank(0));
  Import(TraceOfRank(0, 5));
  const Json compared = Get("/1/compare?with=2");
  EXPECT_EQ(compared["before"]["window"], "1");
  EXPECT_EQ(compared["after"]["steps"], 1);
  EXPECT_EQ(compared["step"]["change"], "unsure");
  EXPECT_EQ(compared["kernels"]["rows"].size(), 1u) << "the other one's launch is not known";
  EXPECT_EQ(compared["kernels"]["counts"]["unsure"], 1);
  EXPECT_EQ(compared["operators"]["rows"][0]["name"], "aten::mm");
  const auto status = [&](const std::string& rest) {
    return StatusOf(service_.Get(kMlpWindows + rest));
  };
  EXPECT_EQ(status("/1/compare"), 404) << "there is none before";
  EXPECT_EQ(Get("/2/compare"), compared) << "the one before";
  EXPECT_EQ(status("/2/compare?rank=4"), 404);
  EXPECT_EQ(status("/1/compare?with=0"), 400);
  EXPECT_EQ(status("/1/compare?with=9"), 404);
  EXPECT_EQ(status("/1/compare?with=2&with_rank=1"), 404);
  Import(TraceText({{"cpu_op", "aten::mm", "1", "1", 1, 5}}));
  EXPECT_EQ(status("/1/compare?with=3"), 404) << "it has no steps";
}

TEST_F(TracesTest, RanksOfAWindowAreLaidSideBySide) {
  Import(TraceOfRank(0), "?rank=0");
  Import(TraceOfRank(1, 5), "?rank=1&window=1");
  const Json ranks = Get("/1/ranks");
  EXPECT_EQ(ranks["traces"], 2);
  EXPECT_EQ(ranks["ranks"], Json::array()) << "they have no collective";
  EXPECT_EQ(ranks["without_waiting"]["unknown"], "fewer than two ranks share collectives");
  EXPECT_EQ(ranks["total"], 0);
  EXPECT_EQ(StatusOf(service_.Get(std::string(kMlpWindows) + "/2/ranks")), 404);
}

TEST_F(TracesTest, AFileBecomesAWindowWithAnswers) {
  const std::string answer = Import(Gzipped(TraceOfRank(3)), "?file=t.json.gz");
  ASSERT_EQ(StatusOf(answer), 201) << answer;
  EXPECT_EQ(HeaderOf(answer, "location"), "/api/v1/jobs/mlp/windows/1");
  const Json window = ApiService::JsonOf(answer);
  EXPECT_EQ(window["what"], "trace");
  EXPECT_EQ(window["status"], "Recorded");
  EXPECT_EQ(window["start_step"], 7);
  EXPECT_EQ(window["num_steps"], 1);
  EXPECT_EQ(window["spans"], 5);
  const Json& trace = window["traces"][0];
  EXPECT_EQ(trace["rank"], 3);
  EXPECT_EQ(trace["rank_from"], "trace");
  EXPECT_EQ(trace["file"], "t.json.gz");
  EXPECT_EQ(trace["from_us"], kStartUs + 1);
  EXPECT_EQ(trace["to_us"], kStartUs + 401);
  EXPECT_EQ(trace["faults"], Json::object());
  EXPECT_EQ(Get("/1"), window);
  EXPECT_EQ(Get("")["items"][0], window);

  const Json kernels = Get("/1/kernels");
  EXPECT_EQ(kernels["window"], "1");
  EXPECT_EQ(kernels["rank"], 3);
  EXPECT_EQ(kernels["total"], 2);
  EXPECT_EQ(kernels["kernels"][0]["name"], "sgemm");
  EXPECT_EQ(kernels["kernels"][0]["launched_by"], "aten::mm");
  EXPECT_EQ(kernels["kernels"][0]["total_seconds"], 0.00005);
  EXPECT_EQ(Get("/1/kernels?q=Rel")["total"], 1) << "whatever the case, as in search";
  EXPECT_EQ(Get("/1/kernels?limit=1")["kernels"].size(), 1u);
  EXPECT_EQ(Get("/1/operators")["operators"][0]["device_total_seconds"], 0.00005);
  EXPECT_EQ(Get("/1/operators?shapes=true")["operators"][0]["shapes"], "[[2, 3]]");
  const Json total = Get("/1/breakdown?rank=3")["devices"][0]["total"];
  EXPECT_EQ(total["wall_seconds"], 0.0001);
  EXPECT_EQ(total["seconds"]["computing"], 0.00007);
  EXPECT_EQ(total["seconds"]["other_idle"], 0.00003);
  EXPECT_EQ(Get("/1/timeline")["tracks"].size(), 2u);
  EXPECT_EQ(Get("/1/calls")["nodes"][1]["device_self_seconds"], 0.00005);
  const Json what_if = Get("/1/what-if");
  EXPECT_EQ(what_if["step_seconds"], 0.00005) << "the second kernel is of no step";
  EXPECT_EQ(what_if["changes"][0]["change"], "communication");
  EXPECT_EQ(what_if["changes"][0]["worst_step_seconds"], 0.00005);
}

TEST_F(TracesTest, SpansAreFoundPageByPage) {
  Import(TraceOfRank(0));
  const Json all = Get("/1/search");
  ASSERT_EQ(all["items"].size(), 5u);
  EXPECT_EQ(all["next"], nullptr);
  const Json found = Get("/1/search?q=SGEMM")["items"];
  ASSERT_EQ(found.size(), 1u);
  EXPECT_EQ(found[0]["kind"], "kernel");
  EXPECT_EQ(found[0]["start_ns"], 99'000);
  EXPECT_EQ(found[0]["duration_ns"], 50'000);
  EXPECT_EQ(found[0]["correlation"], 8);
  EXPECT_EQ(Get("/1/search?q=nothing")["items"].size(), 0u);
  EXPECT_EQ(Get("/1/search?from_ns=160000&to_ns=180000")["items"].size(), 2u);  // the step, relu
  Json pages = Json::array();
  for (std::string cursor;;) {
    const Json page = Get("/1/search?limit=2" + (cursor.empty() ? "" : "&cursor=" + cursor));
    for (const Json& item : page["items"]) pages.push_back(item);
    if (page["next"].is_null()) break;
    cursor = page["next"].get<std::string>();
  }
  EXPECT_EQ(pages, all["items"]);
  const Json joined = Get("/1/search?correlation=8&arguments=true")["items"];
  ASSERT_EQ(joined.size(), 2u);
  EXPECT_EQ(joined[0]["name"], "cudaLaunchKernel");
  EXPECT_EQ(joined[0]["arguments"], Json::object());
  EXPECT_EQ(joined[1]["name"], "sgemm");
  const Json shaped = Get("/1/search?q=aten::mm&arguments=true")["items"];
  EXPECT_EQ(shaped[0]["arguments"], (Json{{"Input Dims", {{2, 3}}}}));
  EXPECT_EQ(Get("/1/search?q=aten::mm")["items"][0]["arguments"], nullptr) << "not asked for";
  ExpectProblem(service_.Get(std::string(kMlpWindows) + "/1/search?tracks=9"), 400, "bad-request",
                "9 is no track");
}

TEST_F(TracesTest, PixelsShowTheGap) {
  Import(TraceOfRank(0));
  const std::string at = std::string(kMlpWindows) + "/1/timeline/pixels";
  const std::string bytes =
      BodyOf(service_.Get(at + "?tracks=1&from_ns=100000&to_ns=200000&width=10"));
  ASSERT_EQ(bytes.substr(0, 4), "SPX1");
  const std::string busy = bytes.substr(32 + 4 + 40, 10);  // behind the names of the pixels
  EXPECT_EQ(static_cast<unsigned char>(busy[0]), 255);
  EXPECT_EQ(busy[6], 0);  // 160 to 170 us: nothing runs
  EXPECT_NE(bytes.find("sgemm"), std::string::npos);
  EXPECT_NE(bytes.find("relu"), std::string::npos);
  ExpectProblem(service_.Get(at + "?from_ns=5&to_ns=5"), 400, "invalid-parameter", "after");
}

TEST_F(TracesTest, AnExportCanBeImportedAgain) {
  Import(TraceOfRank(3));
  const std::string packed = BodyOf(service_.Get(std::string(kMlpWindows) + "/1/trace.json.gz"));
  const Json window = ApiService::JsonOf(Import(packed));
  EXPECT_EQ(window["traces"][0]["rank"], 3);
  EXPECT_EQ(Get("/2/kernels")["kernels"], Get("/1/kernels")["kernels"]);
}

TEST_F(TracesTest, RanksJoinAWindow) {
  Import(TraceOfRank(0));
  const std::string joined = Import(Compress(TraceOfRank(1)), "?window=1");
  ASSERT_EQ(StatusOf(joined), 201);
  const Json own = ApiService::JsonOf(joined)["traces"];
  ASSERT_EQ(own.size(), 1u) << "the answer tells the trace that came, not all of the window";
  EXPECT_EQ(own[0]["rank"], 1);
  ExpectProblem(Import(TraceOfRank(1, 5), "?window=1"), 409, "conflict", "rank 1 already");
  ExpectProblem(Import(TraceOfRank(2), "?window=9"), 404, "not-found", "no window 9");
  EXPECT_EQ(Get("/1")["traces"].size(), 2u);
  EXPECT_EQ(Get("/1")["spans"], 10);
  EXPECT_EQ(Get("/1/kernels?rank=1")["rank"], 1);
  EXPECT_EQ(Get("/1/kernels")["rank"], 0);
  ExpectProblem(service_.Get(std::string(kMlpWindows) + "/1/kernels?rank=5"), 404, "not-found",
                "rank 5");
}

// A trace of one step of the profiler, or of none, so many seconds into the job.
std::string CaptureOf(int rank, int step, int at_s) {
  std::vector<MadeEvent> events = {
      {"cpu_op", "aten::mm", "1", "1", 10, 50},
      {"kernel", "sgemm", "0", "7", 100, 50 + rank * 0.5, "\"device\": 0"},
  };
  if (step >= 0)
    events.push_back({"user_annotation", Format("ProfilerStep#{}", step), "1", "1", 1, 400});
  return TraceText(
      events, Format("\"distributedInfo\": {{\"rank\": {}}}, \"baseTimeNanoseconds\": {}", rank,
                     (kStartUs + std::int64_t{at_s} * 1'000'000) * 1000));
}

TEST_F(TracesTest, AnImportJoinsRanksOfTheSameSteps) {
  const auto window_of = [&](int rank, int step, int at_s, const std::string& query) {
    return ApiService::JsonOf(Import(CaptureOf(rank, step, at_s), query))["id"];
  };
  EXPECT_EQ(window_of(0, 100, 0, ""), "1");
  EXPECT_EQ(window_of(0, 200, 60, "?from_window=1"), "2");
  EXPECT_EQ(window_of(1, 100, 1, "?from_window=1"), "1") << "though the other came later";
  EXPECT_EQ(window_of(1, 200, 61, "?from_window=1"), "2");
  EXPECT_EQ(window_of(2, 200, 5'000, "?from_window=1"), "3") << "another run of the training";
  EXPECT_EQ(window_of(2, 100, 0, "?from_window=2"), "4") << "window 1 is of another import";
  EXPECT_EQ(window_of(0, -1, 60, "?from_window=2"), "5") << "the rank is there";
  EXPECT_EQ(window_of(5, -1, 75, "?from_window=2"), "6") << "without steps times must overlap";
  EXPECT_EQ(window_of(6, -1, 75, "?from_window=6"), "6");
  ExpectProblem(Import(CaptureOf(3, 200, 0), "?window=1"), 409, "conflict",
                "has steps from 100 on, and the trace from 200 on");
}

TEST_F(TracesTest, TheSameFileIsStoredOnce) {
  Import(TraceOfRank(0));
  const std::string again = Import(TraceOfRank(0));
  EXPECT_EQ(StatusOf(again), 200);
  EXPECT_EQ(HeaderOf(again, "location"), "/api/v1/jobs/mlp/windows/1");
  EXPECT_EQ(Get("")["total"], 1);
}

TEST_F(TracesTest, KnownBytesAreNotTakenForAnotherRankOrWindow) {
  Import(TraceOfRank(0));
  EXPECT_EQ(StatusOf(Import(TraceOfRank(0), "?rank=0&window=1")), 200);
  ExpectProblem(Import(TraceOfRank(0), "?rank=3"), 409, "conflict", "rank 0 of window 1 already");
  ExpectProblem(Import(TraceOfRank(0), "?window=2"), 409, "conflict", "rank 0 of window 1 already");
}

TEST_F(TracesTest, WhatIsImportedLateIsKeptFromThenOnAndCanComeBack) {
  Import(TraceOfRank(0));
  const auto connection = service_.database().Connect();
  const auto number = [&](const char* query) { return connection->Query(query)->Int(0, 0); };
  const std::int64_t received = number("select received_us from traces");
  ASSERT_GT(received, kStartUs + 401);
  EXPECT_EQ(number("select min(kept_us) from trace_parts"), received) << "not from its own time";
  ASSERT_TRUE(connection->Execute("delete from trace_parts"));
  EXPECT_EQ(StatusOf(service_.Get(std::string(kMlpWindows) + "/1/kernels")), 404);
  ASSERT_EQ(StatusOf(Import(TraceOfRank(0))), 201);
  EXPECT_EQ(Get("/1/kernels")["total"], 2);
  EXPECT_EQ(Get("/1")["spans"], 5);
  EXPECT_EQ(Get("")["total"], 1);
}

TEST_F(TracesTest, TheRankComesFromWhatKnowsIt) {
  const std::string plain = TraceText(Events());
  EXPECT_EQ(ApiService::JsonOf(Import(plain, "?file=run_rank-12.json"))["traces"][0]["rank"], 12);
  const Json given = ApiService::JsonOf(Import(TraceOfRank(4), "?rank=6"))["traces"][0];
  EXPECT_EQ(given["rank"], 6);
  EXPECT_EQ(given["rank_from"], "given");
  const Json assumed = ApiService::JsonOf(Import(TraceText(Events(3))))["traces"][0];
  EXPECT_EQ(assumed["rank"], 0);
  EXPECT_EQ(assumed["rank_from"], "assumed");
  EXPECT_EQ(assumed["on_our_clock"], false);
}

TEST_F(TracesTest, RefusesWhatIsNoTrace) {
  ExpectProblem(Import("hello"), 400, "bad-request", "not_json 1");
  ExpectProblem(Import("{}"), 400, "bad-request", "no spans");
  ExpectProblem(Import(""), 400, "bad-request");
  ExpectProblem(service_.Ask("POST", "/api/v1/jobs/none/traces", TraceOfRank(0), kOctets), 404,
                "not-found");
  ExpectProblem(service_.Post(kTraces, TraceOfRank(0)), 415, "unsupported-media-type");
  EXPECT_EQ(Get("")["total"], 0);
}

TEST_F(TracesTest, ABrokenFileSaysWhatWasNotRead) {
  const std::string text = TraceOfRank(0);
  const Json window = ApiService::JsonOf(Import(text.substr(0, text.find("relu"))));
  EXPECT_EQ(window["spans"], 4);
  EXPECT_EQ(window["traces"][0]["faults"]["truncated"], 1);
}

TEST_F(TracesTest, AJobThatEndedIsJudgedOnceMore) {
  const auto connection = service_.database().Connect();
  const auto due = [&] {
    return connection->Query("select count(*) from rule_tasks where state = 'ready' and due_us > 0")
        ->Int(0, 0);
  };
  ASSERT_GT(due(), 0);
  ASSERT_TRUE(connection->Execute("update rule_tasks set state = 'done', due_us = null"));
  ASSERT_EQ(StatusOf(Import(TraceOfRank(0))), 201);
  EXPECT_EQ(due(), 0) << "the job runs, and its rules have turns to come";
  ASSERT_TRUE(connection->Execute("update jobs set status = 'Completed', ended_us = 5"));
  ASSERT_EQ(StatusOf(Import(TraceOfRank(1))), 201);
  EXPECT_GT(due(), 0);
  ASSERT_TRUE(connection->Execute("update rule_tasks set state = 'done', due_us = null"));
  ASSERT_EQ(StatusOf(service_.Ask("DELETE", std::string(kMlpWindows) + "/2")), 204);
  EXPECT_GT(due(), 0) << "the diagnosis rests on a window that is gone";
}

TEST_F(TracesTest, AWindowIsDeleted) {
  Import(TraceOfRank(0));
  EXPECT_EQ(StatusOf(service_.Ask("DELETE", std::string(kMlpWindows) + "/1")), 204);
  ExpectProblem(service_.Get(std::string(kMlpWindows) + "/1/kernels"), 404, "not-found",
                "no window 1");
  ExpectProblem(service_.Ask("DELETE", std::string(kMlpWindows) + "/1"), 404, "not-found");
}

TEST_F(TracesTest, WindowsOfAgentsAndOfTracesShareTheirNumbers) {
  TestAgent agent("mlp");
  Push(agent.StartedAllowing({"spans"}, kStartUs));
  Import(TraceOfRank(0));
  EXPECT_EQ(HeaderOf(service_.Post(kMlpWindows, R"({"start_step":100})"), "location"),
            "/api/v1/jobs/mlp/windows/2");
  EXPECT_EQ(ApiService::JsonOf(Import(TraceOfRank(1)))["id"], "3");
  ExpectProblem(service_.Post(kMlpWindows, R"({"start_step":200})"), 409, "conflict",
                "window 2 is open");
  ExpectProblem(service_.Ask("DELETE", std::string(kMlpWindows) + "/2"), 409, "conflict", "open");
  ExpectProblem(Import(TraceOfRank(2), "?window=2"), 404, "not-found", "of traces");
  ExpectProblem(service_.Get(std::string(kMlpWindows) + "/2/kernels"), 404, "not-found",
                "of annotations");
}

}  // namespace
}  // namespace stepscope
