#pragma once

#include <gtest/gtest.h>

#include <cstdlib>
#include <memory>
#include <string>

#include "agent/marks/intake.h"
#include "tests/support/mark_writer.h"
#include "tests/support/temp_folder.h"

namespace stepscope::test {

// An intake on a socket in a folder of its own. It reads rings in drains only, so that a test
// decides when.
class IntakeFixture : public testing::Test {
 protected:
  IntakeFixture() {
    options_.socket_path = folder_.path() + "/marks.sock";
    options_.read_interval = 1h;
  }

  Intake& Start() {
    auto intake = Intake::Start(options_, clock_);
    EXPECT_TRUE(intake.ok()) << intake.error().message;
    intake_ = std::move(intake).value();
    return *intake_;
  }
  // Connects a process of this rank and waits for the answer to its hello.
  std::unique_ptr<testing_support::FakeProcess> Connect(int rank,
                                                        const testing_support::RingWriter& ring) {
    auto process = std::make_unique<testing_support::FakeProcess>(options_.socket_path);
    process->Hello(rank, ring);
    const auto answer = process->Receive();
    EXPECT_TRUE(answer && std::get<MarkAnswer>(*answer).refused == 0);
    return process;
  }
  // The agent's reason for refusing a process.
  static std::string Refusal(testing_support::FakeProcess& process) {
    while (const auto message = process.Receive()) {
      const auto* answer = std::get_if<MarkAnswer>(&*message);
      if (answer != nullptr && answer->refused != 0) return answer->detail;
    }
    return "";
  }

  const TempFolder folder_;
  SystemClock clock_;
  IntakeOptions options_;
  std::unique_ptr<Intake> intake_;
};

}  // namespace stepscope::test
