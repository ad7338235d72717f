#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <deque>

#include "agent/frames/framer.h"
#include "agent/send/sender.h"
#include "core/base/log.h"
#include "core/base/text.h"
#include "core/wire/table_codec.h"
#include "tests/support/fake_clock.h"

namespace stepscope {

inline HttpAnswer Taken(std::uint64_t acknowledged, std::vector<RejectedFrame> rejected = {},
                        Time now = FromMicros(1'800'000'000'000'000)) {
  return {200, {}, EncodePushAnswer({acknowledged, acknowledged + 1, std::move(rejected), now})};
}

inline HttpAnswer Problem(int status, std::string_view code, std::uint64_t expected = 0) {
  return {status, {}, Format(R"({{"code":"{}","expected":{},"detail":"why"}})", code, expected)};
}

// A service that keeps every frame, and answers by the protocol, unless scripted otherwise.
struct FakeService {
  std::deque<Result<HttpAnswer>> scripted;  // these answers come first
  std::uint64_t cursor = 0;
  std::vector<std::uint64_t> schemas;
  std::vector<FrameHead> taken;
  std::string lost;  // payloads of frames that report losses
  int pushes = 0;

  Result<HttpAnswer> Post(const std::string& body) {
    ++pushes;
    if (!scripted.empty()) {
      auto answer = scripted.front();
      scripted.pop_front();
      return answer;
    }
    const auto split = SplitPush(body);
    for (const std::string_view bytes : *split) {
      const auto frame = DecodeFrame(bytes);
      EXPECT_TRUE(frame.ok());
      if (auto refused = Take(*frame)) return *refused;
    }
    return Taken(cursor);
  }

  std::optional<HttpAnswer> Take(const Frame& frame) {
    if (frame.head.sequence <= cursor) return std::nullopt;
    if (frame.head.sequence != cursor + 1) return Problem(409, "gap", cursor + 1);
    if (frame.schema) schemas.push_back(frame.head.schema_hash);
    if (frame.head.schema_hash != 0 &&
        std::ranges::find(schemas, frame.head.schema_hash) == schemas.end()) {
      return Problem(409, "unknown-schema");
    }
    cursor = frame.head.sequence;
    if (frame.head.kind == FrameKind::kLost) {
      lost += frame.payload;
      cursor = std::stoull(frame.payload.substr(frame.payload.find("\"last\":") + 7));
    }
    taken.push_back(frame.head);
    return std::nullopt;
  }
};

struct SenderTest : testing::Test {
  static void SetUpTestSuite() { StartLog("sender_test", LogLevel::kError); }

  void Append(int frames, std::size_t bytes = 10) {
    for (int i = 0; i < frames; ++i) {
      stream.Append({.kind = FrameKind::kLifecycle,
                     .payload = "\"" + std::string(bytes, 'x') + "\"",
                     .from_us = 1,
                     .to_us = 2,
                     .samples = 3});
    }
  }
  // Sends until nothing waits or the sender wants to wait; returns which.
  Duration SendAll() {
    for (int i = 0; i < 100; ++i) {
      const Duration wait = sender.Send();
      if (wait != 0ns) return wait;
    }
    ADD_FAILURE() << "the sender never stops";
    return 0ns;
  }
  void AppendTick(Time at) {
    TickRow row;
    row.Set(row.Add("load_1m"), 1);
    ticks.Add(at, row);
    ticks.Cut();
  }

  test::FakeClock clock;
  FrameStream stream{{"job-1", "node-1"}, SpoolLimits{}, clock};
  TickFramer ticks{stream};
  FakeService service;
  Sender sender{stream, [this](const std::string& body) { return service.Post(body); }, clock};
};

}  // namespace stepscope
