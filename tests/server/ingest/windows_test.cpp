// Windows of spans: what agents are told, what they send and say, and what becomes of it.

#include "server/store/jobs/windows.h"

#include "server/store/annotations/span_blocks.h"
#include "tests/server/ingest/ingest_fixture.h"
#include "tests/support/fake_clock.h"

namespace stepscope {
namespace {

using test::FrameMaker;
using test::kStartUs;
using WindowIds = std::vector<std::string>;

class Windows : public IngestTest {
 protected:
  Windows() {
    IngestOptions options;
    options.public_url = "http://host";
    ingest_ = std::make_unique<Ingest>(store_, time_, options);
  }
  ~Windows() override { ingest_.reset(); }

  std::string Started(FrameMaker& agent, const Json& allows = {"interval", "spans"}) {
    return agent.Lifecycle({{"event", "started"},
                            {"at_us", kStartUs},
                            {"command", {"train"}},
                            {"facts", {{"cores", 2}, {"allows", allows}}}});
  }
  void Begin() { ExpectStored(Push({Started(agent_)}), 1); }
  std::int64_t Now() const { return ToMicros(time_.Now()); }
  Result<AskedWindow> Ask(std::int64_t start_step, std::int64_t num_steps) {
    return AskForWindow(*connection_, Job().job_id, {start_step, num_steps}, Now());
  }
  void ExpectConflict(const Result<AskedWindow>& asked, const std::string& words) {
    ASSERT_FALSE(asked.ok());
    EXPECT_EQ(asked.error().code, Code::kConflict);
    EXPECT_NE(asked.error().message.find(words), std::string::npos) << asked.error().message;
  }
  std::string Answer(FrameMaker& agent, const std::string& id, const std::string& reason) {
    return agent.Lifecycle({{"event", "answered"},
                            {"at_us", kStartUs},
                            {"command", id},
                            {"outcome", reason.empty() ? "done" : "refused"},
                            {"reason", reason},
                            {"spans", 7},
                            {"dropped", 2}});
  }
  std::vector<ServiceCommand> CommandsOf(const std::vector<std::string>& frames) {
    const PushReply reply = Push(frames);
    EXPECT_EQ(reply.status, 200) << reply.detail;
    return reply.answer.commands;
  }
  WindowState Stand(std::int64_t window_id) {
    const auto window = FindWindow(*connection_, Job().job_id, window_id);
    EXPECT_TRUE(window) << window.error().message;
    const auto nodes = ListNodes(*connection_, Job().job_id, kWindowFacts);
    return window ? WindowStateOf(*window, Job(), *nodes, Now()) : WindowState();
  }
  SpanPage Spans(SpanQuery query = {}) {
    query.job_id = Job().job_id;
    query.window_id = 1;
    const auto page = ReadSpans(*connection_, query);
    EXPECT_TRUE(page) << page.error().message;
    return page ? *page : SpanPage();
  }
  std::int64_t Stored() { return Count("select count(*) from span_blocks"); }

  test::FakeClock time_{FromMicros(kStartUs)};
  FrameMaker agent_{"train"};
};

TEST_F(Windows, AreToldUntilTheyAreAnswered) {
  Begin();
  ASSERT_TRUE(Ask(1000, 10));
  for (int push = 0; push < 2; ++push) {
    const auto commands = CommandsOf({agent_.Ticks(kStartUs + push * 9'000'000)});
    ASSERT_EQ(commands.size(), 1u);
    EXPECT_EQ(commands[0].id, "spans-1");
    EXPECT_EQ(commands[0].kind, "spans");
    EXPECT_EQ(commands[0].window_id, 1);
    EXPECT_EQ(commands[0].start_step, 1000);
    EXPECT_EQ(commands[0].num_steps, 10);
    EXPECT_EQ(commands[0].wait_seconds, 3600);
  }
  EXPECT_EQ(Stand(1).status, WindowStatus::kOpen);
  EXPECT_TRUE(CommandsOf({Answer(agent_, "spans-1", "")}).empty());
  EXPECT_EQ(Stand(1).status, WindowStatus::kRecorded);
  FrameMaker again("train");
  EXPECT_EQ(CommandsOf({Started(again)}).size(), 1u) << "an agent that starts again is told again";
}

TEST_F(Windows, AreToldWhatIsWantedOfTheOperators) {
  ExpectStored(Push({Started(agent_, {"spans", "window"})}), 1);
  const auto ask = [&](bool shapes) {
    return AskForWindow(*connection_, Job().job_id,
                        {.start_step = 1000, .num_steps = 2, .operators = true, .shapes = shapes},
                        Now());
  };
  ASSERT_TRUE(ask(true));
  EXPECT_FALSE(ask(true)->fresh);
  ExpectConflict(ask(false), "window 1 is open");
  EXPECT_TRUE(FindWindow(*connection_, Job().job_id, 1)->shapes);
  const auto commands = CommandsOf({agent_.Ticks(kStartUs)});
  ASSERT_EQ(commands.size(), 1u);
  EXPECT_TRUE(commands[0].operators && commands[0].shapes);
  CommandsOf({Answer(agent_, "spans-1", "")});
  ASSERT_TRUE(ask(false));
  const auto without = CommandsOf({agent_.Ticks(kStartUs + 9'000'000)});
  ASSERT_EQ(without.size(), 1u);
  EXPECT_TRUE(without[0].operators && !without[0].shapes);
}

TEST_F(Windows, OneIsOpenAtATime) {
  Begin();
  ASSERT_TRUE(Ask(1000, 10));
  const auto same = Ask(1000, 10);
  ASSERT_TRUE(same);
  EXPECT_EQ(same->window.window_id, 1);
  EXPECT_FALSE(same->fresh);
  ExpectConflict(Ask(1000, 11), "window 1 is open: steps 1000 to 1009");
  CommandsOf({Answer(agent_, "spans-1", "rank 0: step 1000 had begun")});
  EXPECT_EQ(Stand(1).status, WindowStatus::kNotRecorded);
  EXPECT_EQ(Stand(1).reason, "n1: rank 0: step 1000 had begun");
  EXPECT_EQ(Ask(2000, 1)->window.window_id, 2);
}

TEST_F(Windows, IsOverWithTheJobAndWithTheHour) {
  Begin();
  ASSERT_TRUE(Ask(1000, 10));
  time_.Advance(1h);
  CommandsOf({agent_.Ticks(kStartUs)});
  EXPECT_EQ(Stand(1).status, WindowStatus::kOpen) << "its answer may be on the way";
  time_.Advance(3min);
  EXPECT_TRUE(CommandsOf({agent_.Ticks(kStartUs + 9'000'000)}).empty()) << "told no more";
  EXPECT_EQ(Stand(1).reason, "the steps did not come within 60 minutes");
  ASSERT_TRUE(Ask(2000, 1));
  CommandsOf({agent_.Ended(0)});
  EXPECT_EQ(Stand(2).status, WindowStatus::kNotRecorded);
  EXPECT_EQ(Stand(2).reason, "the job ended before these steps");
  ExpectConflict(Ask(3000, 1), "job train has ended");
}

TEST_F(Windows, NobodyIsAskedWhoDoesNotRecord) {
  ExpectStored(Push({Started(agent_, {"interval"})}), 1);
  ExpectConflict(Ask(1000, 10), "no agent of this job is heard that records spans");
  FrameMaker other("train", "n2");
  CommandsOf({Started(other)});
  ASSERT_TRUE(Ask(1000, 10));
  CommandsOf({Answer(other, "spans-1", "")});
  EXPECT_EQ(Stand(1).status, WindowStatus::kRecorded) << "nothing is owed by n1";
}

TEST_F(Windows, ASilentAgentOwesNothing) {
  Begin();
  ASSERT_TRUE(Ask(1000, 10));
  time_.Advance(5min);
  EXPECT_EQ(Stand(1).reason, "no agent that was asked is heard any more");
  ExpectConflict(Ask(2000, 1), "no agent of this job is heard");
}

TEST_F(Windows, SpansAreStoredOnceAndComePageByPage) {
  Begin();
  ASSERT_TRUE(Ask(0, 10));
  const std::string later = agent_.Spans(1, 1, {3, 4}), first = agent_.Spans(0, 1, {0, 1, 2});
  ExpectStored(Push({later, first}), 3);
  ExpectStored(Push({later, first}), 3);
  EXPECT_EQ(Stored(), 2);
  EXPECT_EQ(Frames(), 0);
  SpanQuery query{.limit = 2};
  std::vector<std::pair<int, std::int64_t>> seen;
  do {
    const SpanPage page = Spans(query);
    EXPECT_LE(page.items.size(), 2u);
    for (const SpanRow& span : page.items) seen.emplace_back(span.rank, span.step);
    query.after = page.next;
  } while (!query.after.empty());
  EXPECT_EQ(seen,
            (std::vector<std::pair<int, std::int64_t>>{{0, 0}, {0, 1}, {0, 2}, {1, 3}, {1, 4}}));
  const SpanPage one = Spans({.rank = 1, .name = "augment"});
  ASSERT_EQ(one.items.size(), 1u);
  EXPECT_EQ(one.items[0].name, "augment");
  EXPECT_EQ(one.items[0].step, 3);
  EXPECT_EQ(one.items[0].start_ns, kStartUs * 1'000 + 300);
  EXPECT_EQ(one.items[0].duration_ns, 1'500);
  EXPECT_EQ(one.items[0].process, 4711);
  EXPECT_TRUE(Spans({.name = "nothing"}).items.empty());
}

TEST_F(Windows, CursorsOfOthersAreRefused) {
  Begin();
  for (const char* cursor : {"!", "WzFd", "WzAsImciLDAsMF0"}) {
    const auto page = ReadSpans(*connection_, {.job_id = 1, .window_id = 1, .after = cursor});
    ASSERT_FALSE(page) << cursor;
    EXPECT_EQ(page.error().code, Code::kInvalid);
  }
}

TEST_F(Windows, SpansThatNobodyAskedForAreRefused) {
  Begin();
  ASSERT_TRUE(Ask(10, 5));
  const std::pair<std::string, const char*> frames[] = {
      {agent_.Spans(0, 2, {10}), "there is no window 2"},
      {agent_.Spans(0, 1, {9}), "steps 9 to 9 are not of window 1"},
      {agent_.Spans(0, 1, {14, 15}), "steps 14 to 15 are not of window 1"}};
  for (const auto& [frame, words] : frames) {
    const PushReply reply = Push({frame});
    ExpectRejected(reply, reply.answer.acknowledged, "bad-window");
    EXPECT_EQ(reply.answer.rejected[0].detail, words);
  }
  EXPECT_EQ(Stored(), 0);
  EXPECT_EQ(Count("select rejected from streams"), 3);
  ExpectStored(Push({agent_.Spans(0, 1, {10, 14})}), 5);
}

TEST_F(Windows, NoMoreAreStoredThanAWindowMayHave) {
  Begin();
  ASSERT_TRUE(Ask(0, 5));
  ExpectStored(Push({agent_.Spans(0, 1, {0})}), 2);
  ASSERT_TRUE(connection_->Query("update windows set spans = $1", {kMostWindowSpans - 2}));
  const PushReply reply = Push({agent_.Spans(0, 1, {1}), agent_.Spans(0, 1, {2, 3})});
  ExpectRejected(reply, 4, "bad-window");
  EXPECT_EQ(Stored(), 2);
}

// Who asks for a name that is in none of very many blocks is told to come again.
TEST_F(Windows, APageIsMadeOfSoManyBlocks) {
  Begin();
  ASSERT_TRUE(Ask(0, 5));
  ExpectStored(Push({agent_.Spans(0, 1, {0})}), 2);
  ASSERT_TRUE(connection_->Query(R"(
insert into span_blocks (job_id, window_id, rank, session, sequence, schema_hash, from_us, to_us,
    rows, payload)
select job_id, window_id, rank, session, sequence + n, schema_hash, from_us, to_us, rows, payload
from span_blocks, generate_series(1, 299) n)"));
  const auto job_id = Count("select job_id from jobs");
  SpanQuery query{.job_id = job_id, .window_id = 1, .name = "nothing"};
  int pages = 0;
  do {
    const auto page = ReadSpans(*connection_, query);
    ASSERT_TRUE(page);
    EXPECT_TRUE(page->items.empty());
    query.after = page->next;
    ++pages;
  } while (!query.after.empty() && pages < 10);
  EXPECT_EQ(pages, 2);
}

TEST_F(Windows, HostileTablesAreRefused) {
  Begin();
  ASSERT_TRUE(Ask(0, 5));
  const std::int64_t good[] = {1, 0, 1, 0, 2, kStartUs * 1'000, 5};
  struct Bad {
    std::size_t column;
    std::int64_t value;
    const char* code;
  };
  for (const Bad& bad : std::vector<Bad>{{1, 1, "bad-table"},
                                         {1, -1, "bad-table"},
                                         {2, -1, "bad-table"},
                                         {3, INT64_MIN, "bad-table"},
                                         {4, -1, "bad-table"},
                                         {4, INT64_MAX, "bad-table"},
                                         {5, 0, "bad-time"},
                                         {5, INT64_MIN, "bad-time"},
                                         {5, INT64_MAX, "bad-time"},
                                         {6, -1, "bad-table"},
                                         {6, INT64_MAX, "bad-table"}}) {
    Schema schema{0, {}, {"only"}};
    Table table{1, std::vector<Column>(7)};
    for (std::size_t i = 0; i < 7; ++i) {
      schema.columns.push_back({std::string(kSpanColumns[i]), ""});
      table.columns[i].values.push_back(i == bad.column ? bad.value : good[i]);
    }
    const PushReply reply = Push({agent_.Make(FrameKind::kSpans, EncodeTable(table), &schema)});
    ExpectRejected(reply, agent_.head.sequence, bad.code);
  }
  EXPECT_EQ(Stored(), 0);
}

TEST_F(Windows, HostileSchemasAreRefused) {
  Begin();
  ASSERT_TRUE(Ask(0, 5));
  Schema schema{0, {}, {"only"}};
  for (const std::string_view column : kSpanColumns) {
    schema.columns.push_back({std::string(column), ""});
  }
  Schema of_nobody = schema, longer = schema, two = schema;
  of_nobody.rank = -1;
  longer.columns.push_back({"more", ""});
  for (const Schema* bad : {&of_nobody, &longer}) {
    const PushReply reply = Push({agent_.Make(FrameKind::kSpans, "x", bad)});
    ExpectRejected(reply, agent_.head.sequence, "bad-schema");
  }
  Table table{2, std::vector<Column>(7)};
  for (const std::int64_t window : {1, 2}) {
    const std::int64_t row[] = {window, 0, 1, 0, 2, kStartUs * 1'000, 5};
    for (std::size_t i = 0; i < 7; ++i) table.columns[i].values.push_back(row[i]);
  }
  const PushReply reply = Push({agent_.Make(FrameKind::kSpans, EncodeTable(table), &two)});
  ExpectRejected(reply, agent_.head.sequence, "bad-table");
  EXPECT_EQ(reply.answer.rejected[0].detail, "of several windows");
}

TEST_F(Windows, AnswersToNothingChangeNothing) {
  Begin();
  CommandsOf({Answer(agent_, "spans-9", "")});
  EXPECT_EQ(Count("select count(*) from window_answers"), 0);
  for (const char* key : {"spans", "dropped"}) {
    Json event = {{"event", "answered"}, {"at_us", kStartUs}, {"command", "spans-1"},
                  {"outcome", "done"},   {"reason", ""},      {"spans", 1},
                  {"dropped", 0}};
    event[key] = -1;
    const PushReply reply = Push({agent_.Lifecycle(event)});
    ExpectRejected(reply, agent_.head.sequence, "bad-lifecycle");
  }
}

}  // namespace
}  // namespace stepscope
