#pragma once

#include <gtest/gtest.h>

#include <deque>
#include <map>
#include <memory>
#include <set>

#include "agent/send/sender.h"
#include "core/base/text.h"
#include "core/wire/table_codec.h"
#include "tests/support/fake_clock.h"
#include "tests/support/model_files.h"

namespace stepscope::test {

// A service with a cursor for each session, that may be away, or lose its answers. Every sample is
// a different number, so that none can be missing or doubled unnoticed.
struct SampleService {
  bool up = true, answers_arrive = true;
  std::map<Session, std::uint64_t> cursors;
  std::map<std::int64_t, int> samples;  // how often each was received
  std::set<std::uint64_t> schemas;
  std::uint64_t numbers_lost = 0;
  std::uint64_t pushes = 0;

  Result<HttpAnswer> Post(const std::string& body) {
    ++pushes;
    if (!up) return Unavailable("nobody listens");
    std::uint64_t cursor = 0;
    const auto frames = SplitPush(body);
    for (const std::string_view bytes : *frames) {
      const auto frame = DecodeFrame(bytes);
      if (!frame) return HttpAnswer{400, {}, R"({"code":"bad-frame","detail":"damaged"})"};
      cursor = cursors[frame->head.session];
      if (frame->head.sequence > cursor + 1) {
        return HttpAnswer{
            409, {}, Format(R"({{"code":"gap","expected":{},"detail":"why"}})", cursor + 1)};
      }
      if (frame->schema) schemas.insert(frame->head.schema_hash);
      if (frame->head.schema_hash != 0 && !schemas.contains(frame->head.schema_hash)) {
        return HttpAnswer{409, {}, R"({"code":"unknown-schema","detail":"why"})"};
      }
      if (frame->head.sequence == cursor + 1) cursor = Take(*frame);
    }
    if (!answers_arrive) return Unavailable("the answer is lost");
    return HttpAnswer{200, {}, EncodePushAnswer({cursor, cursor + 1, {}, FromMicros(1)})};
  }

 private:
  std::uint64_t Take(const Frame& frame) {
    std::uint64_t& cursor = cursors[frame.head.session];
    const std::uint64_t before = cursor++;
    if (frame.head.kind == FrameKind::kLost) {
      cursor = std::stoull(frame.payload.substr(frame.payload.find("\"last\":") + 7));
      numbers_lost += cursor - before;
    } else if (frame.head.schema_hash != 0) {
      const auto table = DecodeTable(frame.payload);
      for (const std::int64_t sample : table->columns[1].values) ++samples[sample];
    } else {
      ++samples[std::stoll(frame.payload)];
    }
    return cursor;
  }
};

// An agent of one job on a spool that outlives it, and the sessions that earlier agents left there.
struct SpoolWorld {
  explicit SpoolWorld(unsigned seed, std::uint64_t most_bytes = 64 * kSegmentBytes) : dice(seed) {
    auto made = std::make_unique<ModelFiles>(seed);
    files = made.get();
    folder = std::make_unique<SpoolFolder>(std::move(made), most_bytes);
    schema.columns = {{"at_us", ""}, {"load_1m", ""}};
    Start();
  }

  struct Way {
    std::unique_ptr<FrameStream> stream;
    std::unique_ptr<Sender> sender;
  };

  Way WayOf(std::unique_ptr<FrameStream> stream) {
    auto post = [this](const std::string& body) { return service.Post(body); };
    auto sender = std::make_unique<Sender>(*stream, post, clock);
    return {std::move(stream), std::move(sender)};
  }
  void Start() {
    for (FoundSession& found : RecoverSessions(*folder)) {
      old.push_back(WayOf(std::make_unique<FrameStream>(std::move(found), SpoolLimits{}, clock)));
    }
    const StreamOwner owner{"job-1", "node-1", "http://a"};
    live = WayOf(std::make_unique<FrameStream>(owner, SpoolLimits{}, clock, folder.get()));
  }
  // Kills the agent; with `power` also the machine.
  void Kill(bool power) {
    old.clear();
    live = {};
    taken_at_risk.clear();
    power ? files->LosePower() : files->Kill();
  }

  void AppendTable(int rows) {
    Table table;
    table.rows = rows;
    table.columns.resize(2);
    FrameContent content{.kind = FrameKind::kTicks, .schema = &schema};
    content.schema_hash = HashSchema(schema);
    content.from_us = ToMicros(clock.Now()) + 1000 * last;
    for (int i = 0; i < rows; ++i) {
      table.columns[0].values.push_back(ToMicros(clock.Now()) + 1000 * ++last);
      table.columns[1].values.push_back(last);
      taken_at_risk.insert(last);
    }
    content.to_us = table.columns[0].values.back();
    content.samples = rows;
    content.payload = EncodeTable(table);
    live.stream->Append(content);
  }
  void AppendEvent(std::size_t padding = 0) {
    taken_at_risk.insert(++last);
    live.stream->Append({.payload = std::to_string(last) + std::string(padding, ' ')});
  }
  // Stores; samples on disk must be delivered one day.
  bool Store() {
    for (Way& way : old) (void)way.stream->Store();
    const bool stored = live.stream->Store();
    if (stored) taken.merge(taken_at_risk);
    return stored;
  }
  void Send() {
    (void)live.sender->Send();
    for (Way& way : old) (void)way.sender->Send();
  }
  // Sends until everything is delivered that can be.
  void DeliverAll() {
    service.up = service.answers_arrive = true;
    files->FailNothing();
    Kill(false);
    Start();
    for (int i = 0; i < 10'000; ++i) {
      bool waits = false;
      for (Way& way : old) {
        (void)way.sender->Send();
        (void)way.stream->Store();
        waits |= way.stream->Waits();
      }
      if (!waits) return;
      clock.Advance(1s);
    }
    ADD_FAILURE() << "it never ends";
  }
  std::vector<std::int64_t> Missing() const {
    std::vector<std::int64_t> missing;
    for (const std::int64_t sample : taken) {
      if (!service.samples.contains(sample)) missing.push_back(sample);
    }
    return missing;
  }
  std::vector<std::int64_t> Doubled() const {
    std::vector<std::int64_t> doubled;
    for (const auto& [sample, times] : service.samples) {
      if (times > 1) doubled.push_back(sample);
    }
    return doubled;
  }

  std::mt19937_64 dice;
  FakeClock clock;
  SampleService service;
  ModelFiles* files = nullptr;
  std::unique_ptr<SpoolFolder> folder;
  Schema schema;
  Way live;
  std::deque<Way> old;
  std::int64_t last = 0;
  std::set<std::int64_t> taken, taken_at_risk;  // samples on disk; samples that may be lost
};

}  // namespace stepscope::test
