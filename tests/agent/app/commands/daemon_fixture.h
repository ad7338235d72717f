#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <set>
#include <string>
#include <vector>

#include "core/base/json.h"
#include "core/wire/table_codec.h"
#include "tests/support/agent_process.h"
#include "tests/support/eventually.h"
#include "tests/support/fake_ingest.h"
#include "tests/support/fake_root.h"
#include "tests/support/mark_writer.h"

namespace stepscope::test {

using Words = std::vector<std::string>;

// A training process with its ring, connected to the daemon.
struct Training {
  Training(const std::string& path, const std::string& job, int rank = 0) : process(path) {
    MarkHello hello;
    hello.job = job;
    hello.rank = rank;
    process.Send(hello, ring.memory.get());
    const auto message = process.Receive();
    if (message) answer = std::get<MarkAnswer>(*message);
  }
  void Steps(int count) {
    for (int i = 0; i < count; ++i, ++number) ring.Step(number, number * 10ms, 10ms);
  }
  void Bye() {
    process.Send(MarkBye{});
    process.Close();
  }

  testing_support::RingWriter ring;
  testing_support::FakeProcess process;
  std::uint64_t number = 0;
  MarkAnswer answer{0, 9, "no answer"};
};

struct DaemonTest : testing::Test {
  Words Daemon(const std::string& url, const Words& more = {}) const {
    Words words = {"daemon",     "--server", url,           "--node", "node-1",   "--push", "1s",
                   "--interval", "100ms",    "--end-after", "1s",     "--socket", socket()};
    words.insert(words.end(), more.begin(), more.end());
    return words;
  }
  // Whether the service has been away long enough for frames to be gathered on disk.
  bool Spools() const {
    for (const auto& each : std::filesystem::recursive_directory_iterator(spool())) {
      if (each.path().filename() == "open") return true;
    }
    return false;
  }
  std::string spool() const { return folder.path() + "/spool"; }
  std::string socket() const { return folder.path() + "/agent.sock"; }
  bool IsUp(const AgentProcess& agent) const { return agent.WaitForErr("are heard at"); }
  // The job's lifecycle events that contain the text.
  std::vector<Json> Events(const std::string& job, std::string_view text) const {
    std::vector<Json> events;
    for (const Frame& frame : service.frames()) {
      const bool fits = frame.head.kind == FrameKind::kLifecycle && frame.head.job == job &&
                        frame.payload.find(text) != frame.payload.npos;
      if (fits) events.push_back(*ParseJson(frame.payload));
    }
    return events;
  }
  std::size_t Rows(const std::string& job, FrameKind kind) const {
    std::size_t rows = 0;
    for (const Frame& frame : service.frames()) {
      if (frame.head.kind == kind && frame.head.job == job)
        rows += DecodeTable(frame.payload)->rows;
    }
    return rows;
  }

  // All values of a metric of a job so far.
  std::set<std::int64_t> Values(const std::string& job, std::string_view metric) const {
    std::set<std::int64_t> values;
    for (const Frame& frame : service.frames()) {
      if (frame.head.kind != FrameKind::kTicks || frame.head.job != job || !frame.schema) continue;
      const auto& columns = frame.schema->columns;
      const auto column = std::ranges::find(columns, metric, &SeriesName::metric);
      if (column == columns.end()) continue;
      const auto table = DecodeTable(frame.payload);
      const auto& read = table->columns[column - columns.begin()];
      for (std::size_t i = 0; i < read.values.size(); ++i) {
        if (read.present.empty() || read.present[i] != 0) values.insert(read.values[i]);
      }
    }
    return values;
  }

  FakeRoot folder;
  FakeIngest service;
};

}  // namespace stepscope::test
