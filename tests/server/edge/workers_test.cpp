#include "server/edge/workers.h"

#include <gtest/gtest.h>
#include <sys/resource.h>

#include <set>
#include <stdexcept>
#include <utility>

#include "core/base/guarded.h"
#include "tests/support/at_once.h"

namespace stepscope {
namespace {

// Handlers that wait until they are let go, and who is in them.
class WorkersTest : public testing::Test {
 protected:
  static Task TaskFor(std::string path, Lane lane = Lane::kAll) {
    Task task;
    task.request.path = std::move(path);
    task.lane = lane;
    return task;
  }
  bool Add(Workers& workers, std::string path, Lane lane = Lane::kAll) {
    Task task = TaskFor(std::move(path), lane);
    return workers.Add(task);
  }
  std::vector<std::string> Begun(std::size_t count) {
    log_.Wait({}, 10s, [&](const Log& log) { return log.begun.size() >= count; });
    return log_.Read([](const Log& log) { return log.begun; });
  }
  void LetGo(const std::string& path) {
    log_.Change([&](Log& log) { log.let_go.insert(path); });
  }
  std::vector<Done> Finished(std::size_t count) {
    done_.Wait({}, 10s, [&](const auto& done) { return done.size() >= count; });
    return done_.Change([](auto& done) { return std::exchange(done, {}); });
  }
  void Take(Done done) {
    done_.Change([&](auto& all) { all.push_back(std::move(done)); });
  }

 private:
  struct Log {
    std::vector<std::string> begun;
    std::set<std::string> let_go;
  };
  Guarded<Log> log_;
  Guarded<std::vector<Done>> done_;

 protected:
  Reply Answer(const Request& request) {
    if (request.path == "throws") throw std::runtime_error("a secret");
    log_.Change([&](Log& log) { log.begun.push_back(request.path); });
    log_.Wait({}, 10s, [&](const Log& log) { return log.let_go.contains(request.path); });
    return {.status = 200, .content_type = "", .body = {}, .headers = {}};
  }

  const std::shared_ptr<std::atomic<bool>> stopping_ = std::make_shared<std::atomic<bool>>(false);
  const EdgeHandlers handlers_{
      .check_head = {},
      .ask = [](Request&) -> HeadVerdict { throw std::runtime_error("a secret"); },
      .answer = AtOnce([this](const Request& request) { return Answer(request); }),
      .fault = {}};
  const std::function<void(Done)> take_ = [this](Done done) { Take(std::move(done)); };
};

TEST_F(WorkersTest, ALaneLeavesAWorkerToOthers) {
  Workers workers(4, 100, handlers_, stopping_, take_);
  for (const char* path : {"a", "b", "c", "d"}) EXPECT_TRUE(Add(workers, path, Lane::kMost));
  EXPECT_EQ(Begun(3).size(), 3U);
  EXPECT_TRUE(Add(workers, "page"));
  EXPECT_EQ(Begun(4).back(), "page");
  EXPECT_EQ(workers.queued(), 1U);
  LetGo("b");
  EXPECT_EQ(Begun(5).back(), "d");
  for (const char* path : {"a", "c", "d", "page"}) LetGo(path);
  EXPECT_EQ(Finished(5).size(), 5U);
}

TEST_F(WorkersTest, OneLaneMayHaveAllWorkers) {
  Workers workers(4, 100, handlers_, stopping_, take_);
  for (const char* path : {"a", "b", "c", "d"}) EXPECT_TRUE(Add(workers, path));
  EXPECT_EQ(Begun(4).size(), 4U);
  for (const char* path : {"a", "b", "c", "d"}) LetGo(path);
  EXPECT_EQ(Finished(4).size(), 4U);
}

TEST_F(WorkersTest, FirstComeFirstServed) {
  Workers workers(1, 100, handlers_, stopping_, take_);
  EXPECT_TRUE(Add(workers, "first"));
  EXPECT_EQ(Begun(1).size(), 1U);
  const std::vector<std::string> paths = {"a", "b", "c", "d", "e"};
  for (std::size_t at = 0; at < paths.size(); ++at) {
    EXPECT_TRUE(Add(workers, paths[at], at % 2 == 0 ? Lane::kMost : Lane::kAll));
    LetGo(paths[at]);
  }
  LetGo("first");
  EXPECT_EQ(Begun(6), (std::vector<std::string>{"first", "a", "b", "c", "d", "e"}));
  EXPECT_EQ(Finished(6).size(), 6U);
}

TEST_F(WorkersTest, ALaneLeavesPartOfTheQueueToOthers) {
  Workers workers(1, 4, handlers_, stopping_, take_);
  EXPECT_TRUE(Add(workers, "running"));
  EXPECT_EQ(Begun(1).size(), 1U);
  for (int count = 0; count < 3; ++count) EXPECT_TRUE(Add(workers, "frames", Lane::kMost));
  EXPECT_FALSE(Add(workers, "frames", Lane::kMost));
  EXPECT_TRUE(Add(workers, "page"));
  EXPECT_FALSE(Add(workers, "page"));
  EXPECT_EQ(workers.queued(), 4U);
  for (const char* path : {"running", "frames", "page"}) LetGo(path);
}

TEST_F(WorkersTest, WhatIsNotTakenIsAsItWas) {
  Workers workers(1, 0, handlers_, stopping_, take_);
  Task task = TaskFor("path");
  EXPECT_FALSE(workers.Add(task));
  EXPECT_EQ(task.request.path, "path");
}

TEST_F(WorkersTest, TheFewThatWorkedLastGoOn) {
  constexpr std::size_t kThreads = 64;
  Guarded<std::set<pthread_t>> threads;
  EdgeHandlers handlers = handlers_;
  handlers.answer = AtOnce([&](const Request& request) {
    threads.Change([](std::set<pthread_t>& all) { all.insert(pthread_self()); });
    return Answer(request);
  });
  Workers workers(kThreads, 100, handlers, stopping_, take_);
  // A worker that starts late is the last to rest: first all of them have worked.
  for (std::size_t count = 0; count < kThreads; ++count) EXPECT_TRUE(Add(workers, "together"));
  EXPECT_EQ(Begun(kThreads).size(), kThreads);
  LetGo("together");
  for (std::size_t done = 0; done < kThreads; done += Finished(1).size()) {
  }
  LetGo("alone");
  const auto one_after_the_other = [&](int times) {
    for (int count = 0; count < times; ++count) {
      EXPECT_TRUE(Add(workers, "alone"));
      EXPECT_EQ(Finished(1).size(), 1U);
    }
  };
  one_after_the_other(200);  // until the last of them rests
  threads.Change([](std::set<pthread_t>& all) { all.clear(); });
  one_after_the_other(200);
  // Not one alone: who has answered may not wait yet when the next task comes.
  EXPECT_LE(threads.Read([](const std::set<pthread_t>& all) { return all.size(); }), 16U);
}

TEST_F(WorkersTest, AnExceptionBecomesA500AndTheWorkerGoesOn) {
  Workers workers(1, 10, handlers_, stopping_, take_);
  EXPECT_TRUE(Add(workers, "throws"));
  EXPECT_TRUE(Add(workers, "next"));
  LetGo("next");
  const std::vector<Done> done = Finished(2);
  ASSERT_EQ(done.size(), 2U);
  EXPECT_TRUE(done[0].answer.starts_with("HTTP/1.1 500 ")) << done[0].answer;
  EXPECT_EQ(done[0].answer.find("secret"), std::string::npos);
  EXPECT_TRUE(done[1].answer.starts_with("HTTP/1.1 200 "));
}

TEST_F(WorkersTest, AReplyMayComeWhenTheyAreGone) {
  EdgeHandlers handlers = handlers_;
  Guarded<std::vector<Respond>> kept;
  handlers.answer = [&](const Request&, const Respond& respond, MayWait) {
    kept.Change([&](auto& all) { all.push_back(respond); });
    return true;
  };
  {
    Workers workers(1, 10, handlers, stopping_, take_);
    EXPECT_TRUE(Add(workers, "first") && Add(workers, "second"));
    EXPECT_TRUE(kept.Wait({}, 10s, [](const auto& all) { return all.size() == 2; }));
  }
  *stopping_ = true;
  for (const Respond& respond : kept.Change([](auto& all) { return std::exchange(all, {}); })) {
    respond({.status = 204, .content_type = "", .body = {}, .headers = {}});
  }
  const std::vector<Done> done = Finished(2);
  ASSERT_EQ(done.size(), 2U);
  EXPECT_TRUE(done[1].answer.starts_with("HTTP/1.1 204 ")) << done[1].answer;
  EXPECT_TRUE(done[1].close) << "the edge stops";
}

TEST_F(WorkersTest, AnExceptionAboutAHeadRefusesIt) {
  Workers workers(1, 10, handlers_, stopping_, take_);
  Task task = TaskFor("path");
  task.ask = true;
  EXPECT_TRUE(workers.Add(task));
  const std::vector<Done> done = Finished(1);
  ASSERT_EQ(done.size(), 1U);
  EXPECT_EQ(done[0].verdict.kind, HeadVerdict::kRefuse);
  EXPECT_EQ(done[0].verdict.refusal.status, 500);
}

// T9: glibc gives threads 2 MB where the shell's limit is "unlimited".
TEST_F(WorkersTest, EachHasAStackOf8MBWhateverTheLimitSays) {
  rlimit before{};
  getrlimit(RLIMIT_STACK, &before);
  const rlimit small{1024 * 1024, before.rlim_max};
  setrlimit(RLIMIT_STACK, &small);
  Guarded<std::size_t> size;
  EdgeHandlers handlers = handlers_;
  handlers.answer = AtOnce([&](const Request&) {
    pthread_attr_t attributes;
    std::size_t bytes = 0;
    pthread_getattr_np(pthread_self(), &attributes);
    pthread_attr_getstacksize(&attributes, &bytes);
    pthread_attr_destroy(&attributes);
    size.Change([&](std::size_t& kept) { kept = bytes; });
    return Reply{.status = 200, .content_type = "", .body = {}, .headers = {}};
  });
  Workers workers(1, 10, handlers, stopping_, take_);
  setrlimit(RLIMIT_STACK, &before);
  EXPECT_TRUE(Add(workers, "path"));
  EXPECT_EQ(Finished(1).size(), 1U);
  EXPECT_GE(size.Read([](std::size_t bytes) { return bytes; }), 8'000'000U);
}

}  // namespace
}  // namespace stepscope
