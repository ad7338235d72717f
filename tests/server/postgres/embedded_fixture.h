#pragma once

#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <functional>
#include <memory>
#include <sstream>
#include <string>
#include <thread>

#include "core/base/clock.h"
#include "core/base/text.h"
#include "server/postgres/embedded_postgres.h"
#include "server/postgres/postgres_process.h"
#include "server/store/postgres/database.h"
#include "tests/support/temp_folder.h"

namespace stepscope {

template <typename Ready>
bool Await(Duration at_most, Ready&& ready) {
  const SteadyTime until = SystemClock().Steady() + at_most;
  while (!ready()) {
    if (SystemClock().Steady() > until) return false;
    std::this_thread::sleep_for(20ms);
  }
  return true;
}

class Embedded : public ::testing::Test {
 protected:
  Status Start() { return Start(Options()); }
  Status Start(const EmbeddedPostgresOptions& options) {
    auto started = EmbeddedPostgres::Start(options);
    if (!started) return started.error();
    postgres_ = std::move(*started);
    return {};
  }
  EmbeddedPostgresOptions Options() const {
    return {folder_.string(), "", {"fsync=off", "shared_buffers=16MB"}};
  }
  std::string cluster() const { return (folder_ / "postgres").string(); }
  std::string pid_path() const { return cluster() + "/postmaster.pid"; }

  std::unique_ptr<Connection> Connect() {
    auto connection = Connection::Open(postgres_->url());
    EXPECT_TRUE(connection) << connection.error().message;
    return connection ? std::move(*connection) : nullptr;
  }
  void ExpectServes() {
    const auto connection = Connect();
    ASSERT_NE(connection, nullptr);
    EXPECT_TRUE(connection->Query("select 1"));
  }
  bool AwaitServing() {
    return Await(30s, [this] { return Connection::Open(postgres_->url()).ok(); });
  }
  // Leaves the pid file of an ended server, whose number now belongs to another process.
  void LeavePidFile(const std::function<pid_t()>& number) {
    ASSERT_TRUE(Start());
    std::stringstream content;
    content << std::ifstream(pid_path()).rdbuf();
    postgres_.reset();
    const std::string text = content.str();
    std::ofstream(pid_path()) << number() << text.substr(text.find('\n'));
  }
  void StartsBesideAProcess(pid_t number) {
    LeavePidFile([&] { return number; });
    const Status started = Start();
    ASSERT_TRUE(started) << started.error().message;
    ExpectServes();
  }
  bool LogSays(const std::string& words) {
    std::stringstream log;
    log << std::ifstream(folder_ / "postgres.log").rdbuf();
    return log.str().find(words) != std::string::npos;
  }
  // A process of the cluster by its title; 0 when there is none.
  pid_t ProcessTitled(const std::string& title) {
    for (const pid_t pid : PostgresIn(cluster())) {
      std::stringstream words;
      words << std::ifstream(Format("/proc/{}/cmdline", pid)).rdbuf();
      if (words.str().starts_with(title)) return pid;
    }
    return 0;
  }

  const TempFolder made_;
  const std::filesystem::path folder_ = made_.path();
  std::unique_ptr<EmbeddedPostgres> postgres_;
};

}  // namespace stepscope
