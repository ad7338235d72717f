#include "server/store/jobs/jobs.h"
#include "server/store/rules/create_job.h"

#include <gtest/gtest.h>

#include "core/base/text.h"
#include "server/store/jobs/job_change.h"
#include "server/store/jobs/job_list.h"
#include "server/store/rules/rule_tasks.h"
#include "server/store/rules/rules.h"
#include "server/store/webhooks/deliveries.h"
#include "server/store/webhooks/webhooks.h"
#include "tests/support/postgres.h"

namespace stepscope {
namespace {

NewJob Named(const std::string& name, const std::string& group = "") {
  NewJob job;
  job.name = name;
  job.group = group;
  job.configuration = {{"interval_ms", 500}};
  job.rules = {{"OverallSystemUsage", "OverallSystemUsage", {{"scan", 60}}},
               {"slow-input", "DataloaderBottleneck", {{"threshold", 20}}}};
  return job;
}

std::int64_t Create(Connection& connection, const NewJob& job, std::int64_t now_us = 1'000) {
  const Result<CreatedJob> created = CreateJob(connection, job, now_us);
  EXPECT_TRUE(created) << created.error().message;
  return created ? created->job.job_id : 0;
}

std::vector<std::string> Names(const JobPage& page) {
  std::vector<std::string> names;
  for (const JobListItem& item : page.items) names.push_back(item.job.name);
  return names;
}

TEST(CreateJob, MakesRulesTasksAndTheFirstTransition) {
  const TestDatabase database;
  const auto connection = database.Connect();
  const std::int64_t job_id = Create(*connection, Named("train", "vision"));

  const auto job = FindJob(*connection, "train");
  ASSERT_TRUE(job) << job.error().message;
  EXPECT_EQ(job->group, "vision");
  EXPECT_EQ(job->status, JobStatus::kInProgress);
  EXPECT_EQ(job->secondary_status, "Starting");
  EXPECT_EQ(job->configuration["interval_ms"], 500);
  EXPECT_TRUE(job->failure.is_null());
  const auto rules = ListRuleStates(*connection, job_id);
  ASSERT_TRUE(rules && rules->size() == 2);
  EXPECT_EQ((*rules)[1].config.name, "slow-input");
  EXPECT_EQ((*rules)[1].config.parameters["threshold"], 20);
  EXPECT_EQ(ClaimRuleTasks(*connection, "w", 10, 30s)->size(), 2u);
  EXPECT_EQ(ListTransitions(*connection, job_id)->size(), 1u);
}

TEST(CreateJob, LeavesTheJobThatStands) {
  const TestDatabase database;
  const auto connection = database.Connect();
  const std::int64_t job_id = Create(*connection, Named("train", "first"));
  const auto again = CreateJob(*connection, Named("train", "second"), 2'000);
  ASSERT_TRUE(again);
  EXPECT_FALSE(again->created);
  EXPECT_EQ(again->job.job_id, job_id);
  EXPECT_EQ(again->job.group, "first");
  EXPECT_EQ(ListRuleStates(*connection, job_id)->size(), 2u);
}

TEST(FindJob, NamesTheJobThatIsMissing) {
  const TestDatabase database;
  const auto job = FindJob(*database.Connect(), "nope");
  ASSERT_FALSE(job);
  EXPECT_EQ(job.error().code, Code::kNotFound);
  EXPECT_NE(job.error().message.find("nope"), std::string::npos);
}

TEST(ListJobs, PagesThroughEveryJobOnceInEachOrder) {
  const TestDatabase database;
  const auto connection = database.Connect();
  for (int i = 0; i < 7; ++i) Create(*connection, Named(Format("job-{}", i)), 1'000 + i / 3);
  for (const char* sort : {"created", "-created", "name", "-name", "status", "-status"}) {
    JobFilter filter;
    filter.sort = sort;
    filter.limit = 3;
    std::vector<std::string> seen;
    do {
      const auto page = ListJobs(*connection, filter);
      ASSERT_TRUE(page) << page.error().message;
      EXPECT_EQ(page->total, 7);
      for (const std::string& name : Names(*page)) seen.push_back(name);
      filter.after = page->next;
    } while (!filter.after.empty());
    std::vector<std::string> wanted = {"job-0", "job-1", "job-2", "job-3",
                                       "job-4", "job-5", "job-6"};
    if (sort[0] == '-') std::reverse(wanted.begin(), wanted.end());
    EXPECT_EQ(seen, wanted) << sort;
  }
}

TEST(ListJobs, FiltersBeforeItCountsAndCuts) {
  const TestDatabase database;
  const auto connection = database.Connect();
  Create(*connection, Named("vision-small", "a"), 1'000);
  Create(*connection, Named("vision-large", "b"), 2'000);
  const std::int64_t audio = Create(*connection, Named("Audio", "b"), 3'000);
  ASSERT_TRUE(ChangeJob(*connection, audio, {JobStatus::kCompleted, "Completed", "", nullptr, 9},
                        "http://x"));
  const auto names = [&](auto change) {
    JobFilter filter;
    change(filter);
    const auto page = ListJobs(*connection, filter);
    EXPECT_TRUE(page) << page.error().message;
    EXPECT_EQ(page->total, static_cast<std::int64_t>(page->items.size()));
    return Names(*page);
  };
  using Strings = std::vector<std::string>;
  EXPECT_EQ(names([](JobFilter& f) { f.name_contains = "VISION"; }),
            (Strings{"vision-large", "vision-small"}));
  EXPECT_EQ(names([](JobFilter& f) { f.name_contains = "%"; }), Strings{});
  EXPECT_EQ(names([](JobFilter& f) { f.group = "b"; }), (Strings{"Audio", "vision-large"}));
  EXPECT_EQ(names([](JobFilter& f) { f.statuses = {JobStatus::kCompleted}; }), Strings{"Audio"});
  EXPECT_EQ(names([](JobFilter& f) {
              f.created_after_us = 1'000;
              f.created_before_us = 3'000;
            }),
            Strings{"vision-large"});
  EXPECT_EQ(names([](JobFilter& f) { f.rule = "DataloaderBottleneck"; }).size(), 3u);
  EXPECT_EQ(names([](JobFilter& f) { f.rule_statuses = {RuleStatus::kIssuesFound}; }), Strings{});
}

TEST(ListJobs, FindsTheJobsWhoseRulesHaveOneOfTheStatuses) {
  const TestDatabase database;
  const auto connection = database.Connect();
  const auto create = [&](const std::string& name, const std::string& rule,
                          const std::string& status) {
    ASSERT_TRUE(connection->Query(
        "update rule_states s set status = $3 from rule_configs c where c.job_id = $1 and "
        "c.name = $2 and s.job_id = c.job_id and s.rule_config_id = c.rule_config_id",
        {Create(*connection, Named(name)), rule, status}));
  };
  create("calm", "slow-input", "NoIssuesFound");
  create("broken", "slow-input", "Error");
  create("slow", "slow-input", "IssuesFound");
  create("busy", "OverallSystemUsage", "Error");
  const auto names = [&](const std::string& rule) {
    JobFilter filter;
    filter.rule = rule;
    filter.rule_statuses = {RuleStatus::kIssuesFound, RuleStatus::kError};
    filter.sort = "name";
    const auto page = ListJobs(*connection, filter);
    EXPECT_TRUE(page) << page.error().message;
    for (const JobListItem& item : page->items) EXPECT_FALSE(item.rules_in_trouble.empty());
    return Names(*page);
  };
  EXPECT_EQ(names(""), (std::vector<std::string>{"broken", "busy", "slow"}));
  EXPECT_EQ(names("slow-input"), (std::vector<std::string>{"broken", "slow"}));
  EXPECT_EQ(names("OverallSystemUsage"), std::vector<std::string>{"busy"});
}

TEST(ListJobs, RefusesForeignCursorsAndUnknownSorts) {
  const TestDatabase database;
  const auto connection = database.Connect();
  for (int i = 0; i < 3; ++i) Create(*connection, Named(Format("job-{}", i)));
  JobFilter filter;
  filter.limit = 1;
  const std::string next = ListJobs(*connection, filter)->next;
  ASSERT_FALSE(next.empty());
  filter.sort = "name";
  for (const std::string& cursor :
       {next, std::string("!!"), std::string("W10"), std::string(9, 'x')}) {
    filter.after = cursor;
    const auto page = ListJobs(*connection, filter);
    ASSERT_FALSE(page) << cursor;
    EXPECT_EQ(page.error().code, Code::kInvalid);
  }
  filter = {};
  filter.sort = "created_us; drop table jobs";
  EXPECT_EQ(ListJobs(*connection, filter).error().code, Code::kInvalid);
}

// A webhook that is told of these events; of all when there are none.
void Listen(Connection& connection, std::vector<std::string> events) {
  WebhookRow webhook;
  webhook.url = "https://example.com/hook";
  webhook.events = std::move(events);
  webhook.secret_sealed = std::string("\0secret", 7);
  EXPECT_TRUE(CreateWebhook(connection, webhook));
}

TEST(ChangeJob, WritesStatusTransitionAndMessageOnce) {
  const TestDatabase database;
  const auto connection = database.Connect();
  const std::int64_t job_id = Create(*connection, Named("train"));
  Listen(*connection, {"job.failed"});
  const Json failure = {{"node", "n1"}, {"exit_code", 3}, {"output", {"secret line"}}};
  const JobChange change{JobStatus::kFailed, "Failed", "n1: exit code 3", failure, 5'000};
  ASSERT_TRUE(ChangeJob(*connection, job_id, change, "http://host"));
  ASSERT_TRUE(ChangeJob(*connection, job_id, change, "http://host"));
  const JobChange back{JobStatus::kInProgress, "Training", "", nullptr, 6'000};
  ASSERT_TRUE(ChangeJob(*connection, job_id, back, "http://host"));

  const auto job = LoadJob(*connection, job_id);
  EXPECT_EQ(job->status, JobStatus::kFailed);
  EXPECT_EQ(job->ended_us, 5'000);
  EXPECT_EQ(job->failure["output"][0], "secret line");
  EXPECT_EQ(ListTransitions(*connection, job_id)->size(), 2u);
  const auto deliveries = ListDeliveries(*connection, std::nullopt, "train", "", 10);
  ASSERT_TRUE(deliveries && deliveries->total == 1);
  EXPECT_EQ(deliveries->items[0].sequence, 1);
  EXPECT_EQ(deliveries->items[0].body.find("secret line"), std::string::npos);
  EXPECT_NE(deliveries->items[0].body.find("http://host/jobs/train"), std::string::npos);
}

TEST(ChangeJob, AJobThatIsStoppingEndsAsStopped) {
  const TestDatabase database;
  const auto connection = database.Connect();
  const std::int64_t job_id = Create(*connection, Named("train"));
  Listen(*connection, {});
  const Json failure = {{"node", "n1"}, {"signal", 15}};
  for (const JobChange& change :
       {JobChange{JobStatus::kStopping, "Stopping", "asked of n1", nullptr, 4'000},
        JobChange{JobStatus::kInProgress, "Training", "its first sample", nullptr, 5'000},
        JobChange{JobStatus::kFailed, "Interrupted", "no agent was heard", failure, 6'000}}) {
    ASSERT_TRUE(ChangeJob(*connection, job_id, change, "http://host"));
  }

  const auto job = LoadJob(*connection, job_id);
  EXPECT_EQ(job->status, JobStatus::kStopped);
  EXPECT_EQ(job->ended_us, 6'000);
  EXPECT_TRUE(job->failure.is_null());
  const auto transitions = ListTransitions(*connection, job_id);
  ASSERT_EQ(transitions->size(), 3u);
  EXPECT_EQ(transitions->back().detail, "no agent was heard");
  const auto deliveries = ListDeliveries(*connection, std::nullopt, "train", "", 10);
  ASSERT_EQ(deliveries->total, 1);
  EXPECT_EQ(deliveries->items[0].event, "job.stopped");
}

}  // namespace
}  // namespace stepscope
