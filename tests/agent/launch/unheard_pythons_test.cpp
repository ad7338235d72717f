#include "agent/launch/unheard_pythons.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "core/base/text.h"
#include "tests/support/fake_root.h"

namespace stepscope {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using namespace std::string_literals;

struct UnheardTest : testing::Test {
  void Process(std::int64_t pid, const std::string& environment,
               const std::string& command = "python\0train.py\0"s) const {
    root.Write(Format("/proc/{}/cmdline", pid), command);
    root.Write(Format("/proc/{}/environ", pid), environment);
    root.Write(Format("/proc/{}/maps", pid),
               "7f20-7f30 r-xp 0 08:01 12 /env/torch/_C.cpython.so\n");
  }
  UnheardPythons Unheard(bool allowed = true) const {
    return {{.root = root.path(),
             .start_folder = "/ours/stepscope/_start",
             .socket = "/run/agent.sock",
             .started_here = false},
            [allowed](std::uint32_t) { return allowed; }};
  }

  test::FakeRoot root;
};

TEST_F(UnheardTest, ATrainingThatNamesAJobWithoutThePackageIsToldOnce) {
  Process(7, "STEPSCOPE_JOB=bert\0"s);
  Process(8, "STEPSCOPE_JOB=bert\0"s);
  UnheardPythons unheard = Unheard();
  EXPECT_THAT(unheard.Scan({}),
              ElementsAre(testing::AllOf(HasSubstr("job bert: python (pid 7, train.py)"),
                                         HasSubstr("or put /ours/stepscope/_start in front"))));
  EXPECT_THAT(unheard.Scan({}), IsEmpty());
}

TEST_F(UnheardTest, NothingIsSaidOfWhatIsHeardOrNamesNoJob) {
  Process(7, "STEPSCOPE_JOB=bert\0"s);
  Process(8, "PATH=/bin\0"s);
  Process(9, "STEPSCOPE_JOB=../x\0"s);
  Process(10, "STEPSCOPE_JOB=gpt\0PYTHONPATH=/mine/stepscope/_start:/x\0"s);
  Process(11, "STEPSCOPE_JOB=gpt\0STEPSCOPE_SOCKET=/run/other.sock\0"s);
  Process(12, "STEPSCOPE_JOB=gpt\0"s, "bash\0-c\0python\0"s);
  EXPECT_THAT(Unheard().Scan({7}), IsEmpty());
  EXPECT_THAT(Unheard(false).Scan({}), IsEmpty());
}

TEST_F(UnheardTest, AProcessIsReadSomeTimesOnly) {
  UnheardPythons unheard = Unheard();
  Process(7, "STEPSCOPE_JOB=bert\0"s, "bash\0"s);
  for (int i = 0; i < 3; ++i) EXPECT_THAT(unheard.Scan({}), IsEmpty());
  Process(7, "STEPSCOPE_JOB=bert\0"s);
  EXPECT_THAT(unheard.Scan({}), IsEmpty());
}

}  // namespace
}  // namespace stepscope
