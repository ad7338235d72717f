#include "core/base/buffered_log.h"

#include <gtest/gtest.h>

#include "core/base/log.h"

namespace stepscope {
namespace {

TEST(BufferedLog, LinesAreWrittenWhenItEnds) {
  StartLog("log_test", LogLevel::kInfo);
  testing::internal::CaptureStderr();
  {
    const BufferedLog held;
    LogWarning("no room on {}", "/data");
    EXPECT_EQ(testing::internal::GetCapturedStderr(), "");
    testing::internal::CaptureStderr();
  }
  LogInfo("after it");
  const std::string written = testing::internal::GetCapturedStderr();
  EXPECT_NE(written.find("log_test warning no room on /data"), std::string::npos) << written;
  EXPECT_LT(written.find("no room"), written.find("after it"));
}

TEST(BufferedLog, KeepsTheLastHundred) {
  StartLog("log_test_many", LogLevel::kInfo);
  testing::internal::CaptureStderr();
  {
    const BufferedLog held;
    for (int i = 1; i <= 150; ++i) LogInfo("line {};", i);
  }
  const std::string written = testing::internal::GetCapturedStderr();
  EXPECT_EQ(written.find("line 50;"), std::string::npos);
  EXPECT_NE(written.find("line 51;"), std::string::npos);
  EXPECT_NE(written.find("line 150;"), std::string::npos);
}

}  // namespace
}  // namespace stepscope
