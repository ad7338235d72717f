#include "agent/launch/python_start.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/support/fake_root.h"

namespace stepscope {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using testing::Pair;

Environment PathIs(const std::string& path) {
  return [path](std::string_view name) { return name == "PYTHONPATH" ? path : ""; };
}

TEST(PythonStart, IsFoundBesideAnInstalledProgram) {
  test::FakeRoot root;
  root.Write("/usr/share/stepscope/python/stepscope/_start/sitecustomize.py", "");
  root.Write("/usr/bin/stepscope-agent", "");
  EXPECT_EQ(PythonStartFolder(root.path() + "/usr/bin/stepscope-agent"),
            root.path() + "/usr/share/stepscope/python/stepscope/_start");
}

TEST(PythonStart, IsFoundInTheSourceTreeOfABuild) {
  test::FakeRoot root;
  root.Write("/tree/python/stepscope/_start/sitecustomize.py", "");
  root.Write("/tree/build/dev/stepscope-agent", "");
  EXPECT_EQ(PythonStartFolder(root.path() + "/tree/build/dev/stepscope-agent"),
            root.path() + "/tree/python/stepscope/_start");
}

TEST(PythonStart, IsNowhereWhenThePackageIsNotThereOrCannotBeNamed) {
  test::FakeRoot root;
  root.Write("/a:b/share/stepscope/python/stepscope/_start/sitecustomize.py", "");
  EXPECT_EQ(PythonStartFolder(root.path() + "/a:b/bin/stepscope-agent"), "");
  EXPECT_EQ(PythonStartFolder(root.path() + "/usr/bin/stepscope-agent"), "");
  EXPECT_EQ(PythonStartFolder(""), "");
}

TEST(PythonStart, GoesInFrontOfPythonPathOnce) {
  EXPECT_THAT(PythonVariables("/s", PathIs("")), ElementsAre(Pair("PYTHONPATH", "/s")));
  EXPECT_THAT(PythonVariables("/s", PathIs("/a:/b")), ElementsAre(Pair("PYTHONPATH", "/s:/a:/b")));
  EXPECT_THAT(PythonVariables("/s", PathIs("/a:/s")), IsEmpty());
  EXPECT_THAT(PythonVariables("", PathIs("/a")), IsEmpty());
}

TEST(PythonStart, KnowsThisProgram) {
  EXPECT_THAT(OwnProgram(), testing::HasSubstr("test_"));
}

}  // namespace
}  // namespace stepscope
