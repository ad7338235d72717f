#include "agent/launch/missing_hooks.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <vector>

#include "core/base/text.h"
#include "tests/support/fake_root.h"

namespace stepscope {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

using Texts = std::vector<std::string>;

constexpr const char* kMaps =
    "7f00-7f10 r-xp 00000000 08:01 11 /lib/libc.so.6\n"
    "7f20-7f30 r-xp 00000000 08:01 12                 /env/lib/torch/_C.cpython-311.so\n";

struct MissingHooksTest : testing::Test {
  void Process(std::int64_t pid, const Texts& command, const Texts& environment) const {
    root.Write(Format("/proc/{}/cmdline", pid), WithNuls(command));
    root.Write(Format("/proc/{}/environ", pid), WithNuls(environment));
    root.Write(Format("/proc/{}/maps", pid), kMaps);
  }
  static std::string WithNuls(const Texts& words) {
    std::string text;
    for (const std::string& word : words) text += word + '\0';
    return text;
  }
  static Texts Ours(const std::string& path = "/ours:/mine") {
    return {"STEPSCOPE_JOB=j", "STEPSCOPE_SOCKET=/run/j.sock", "PATH=/bin", "PYTHONPATH=" + path};
  }
  std::string Why(const Texts& command, const Texts& environment) const {
    Process(7, command, environment);
    return WhyWithoutHooks(way(), 7);
  }
  HooksWay way() const { return {root.path(), "/ours", "/run/j.sock", geteuid()}; }

  test::FakeRoot root;
};

const Texts kPlain = {"python3", "/home/me/train.py", "--token", "secret"};

TEST_F(MissingHooksTest, NothingIsSaidWhereNothingIsInTheWay) {
  EXPECT_EQ(Why(kPlain, Ours()), "");
  EXPECT_EQ(Why({"bash", "-I"}, {}), "");
}

TEST_F(MissingHooksTest, NothingIsSaidOfAPythonWithoutTorch) {
  Process(7, kPlain, {"PATH=/bin"});
  root.Write("/proc/7/maps", "7f00-7f10 r-xp 00000000 08:01 11 /lib/libc.so.6\n");
  EXPECT_EQ(WhyWithoutHooks(way(), 7), "");
}

TEST_F(MissingHooksTest, NothingIsSaidOfAProcessThatEndsMeanwhile) {
  Process(7, kPlain, {"PATH=/bin"});
  std::filesystem::remove(root.path() + "/proc/7/maps");
  EXPECT_EQ(WhyWithoutHooks(way(), 7), "");
  std::filesystem::remove(root.path() + "/proc/7/environ");
  EXPECT_EQ(WhyWithoutHooks(way(), 7), "");
}

TEST_F(MissingHooksTest, NamesNoScriptWhereNoWordMayBeTold) {
  Process(7, kPlain, {"PATH=/bin"});
  HooksWay silent = way();
  silent.names_script = false;
  EXPECT_THAT(WhyWithoutHooks(silent, 7),
              AllOf(HasSubstr("python3 (pid 7) runs torch"), Not(HasSubstr("train.py"))));
}

TEST_F(MissingHooksTest, KnowAPythonByTheFileThatItRuns) {
  Process(7, {"ray::TrainWorker"}, {"PATH=/bin"});
  EXPECT_EQ(WhyWithoutHooks(way(), 7), "");
  std::filesystem::create_symlink("/usr/bin/python3.11", root.path() + "/proc/7/exe");
  EXPECT_THAT(WhyWithoutHooks(way(), 7), HasSubstr("python3.11 (pid 7) runs torch"));
}

TEST_F(MissingHooksTest, NamesProgramAndScriptAndNoArgument) {
  EXPECT_THAT(Why({"python3", "-I", "/home/me/train.py", "secret"}, Ours()),
              AllOf(HasSubstr("python3 (pid 7, train.py) runs torch"),
                    HasSubstr("-I ignores PYTHONPATH"), Not(HasSubstr("secret"))));
}

TEST_F(MissingHooksTest, KnowsTheFlags) {
  EXPECT_THAT(Why({"python3", "-E", "a.py"}, Ours()), HasSubstr("-E ignores PYTHONPATH"));
  EXPECT_THAT(Why({"python3", "-S", "a.py"}, Ours()), HasSubstr("-S leaves out site"));
}

TEST_F(MissingHooksTest, TellsAClearedEnvironmentFromAReplacedPath) {
  EXPECT_THAT(Why(kPlain, {"PATH=/bin"}), HasSubstr("environment was cleared"));
  EXPECT_THAT(Why(kPlain, {"STEPSCOPE_JOB=j", "PYTHONPATH=/tmp"}),
              HasSubstr("PYTHONPATH was replaced"));
  EXPECT_THAT(Why(kPlain, {"STEPSCOPE_JOB=j"}), HasSubstr("PYTHONPATH was taken away"));
}

// As `env -u` and `srun --export=PATH,PYTHONPATH` do.
TEST_F(MissingHooksTest, NamesAVariableThatWasTakenAwayWhereOursIsInThePath) {
  EXPECT_THAT(Why(kPlain, {"PATH=/bin", "PYTHONPATH=/ours"}),
              HasSubstr("STEPSCOPE_JOB was taken away"));
  EXPECT_THAT(Why(kPlain, {"STEPSCOPE_SOCKET=/run/j.sock", "PYTHONPATH=/ours"}),
              HasSubstr("STEPSCOPE_JOB was taken away"));
  EXPECT_THAT(Why(kPlain, {"STEPSCOPE_JOB=j", "PYTHONPATH=/ours"}),
              HasSubstr("STEPSCOPE_SOCKET was taken away"));
}

TEST_F(MissingHooksTest, AnInstalledPackageNeedsTheSocketToo) {
  root.Write("/env/lib/stepscope-hooks.pth", "");
  EXPECT_THAT(Why({"python3", "-I", "a.py"}, {"STEPSCOPE_JOB=j"}),
              HasSubstr("STEPSCOPE_SOCKET was taken away"));
}

TEST_F(MissingHooksTest, SaysThatNoPythonLeavesThemOutUnlessTheyComeInByThemselves) {
  HooksWay off = way();
  off.switched_off = true;
  Process(7, kPlain, Ours("/mine"));
  EXPECT_THAT(WhyWithoutHooks(off, 7), HasSubstr("Stepscope: --no-python leaves them out"));
  root.Write("/env/lib/stepscope-hooks.pth", "");
  EXPECT_EQ(WhyWithoutHooks(off, 7), "");
}

TEST_F(MissingHooksTest, WhatIsSwitchedOffIsSaid) {
  Texts environment = Ours();
  environment.push_back("STEPSCOPE_HOOKS=no");
  EXPECT_THAT(Why(kPlain, environment), HasSubstr("STEPSCOPE_HOOKS=no switches them off"));
}

TEST_F(MissingHooksTest, AnOldPythonIsTold) {
  root.MakeFolder("/proc/7");
  std::filesystem::create_symlink("/usr/bin/python3.8", root.path() + "/proc/7/exe");
  EXPECT_THAT(Why(kPlain, Ours()), HasSubstr("Python 3.8 is older than 3.9"));
}

// Behind another sitecustomize the hooks come in by usercustomize, unless that is left out, too.
TEST_F(MissingHooksTest, AnotherSitecustomizeIsNamedWhereThereIsNoSecondWay) {
  root.Write("/tool/sitecustomize.py", "");
  EXPECT_EQ(Why(kPlain, Ours("/tool:/ours")), "");
  EXPECT_EQ(Why({"python3", "-s", "a.py"}, Ours("/ours:/tool")), "");
  EXPECT_THAT(Why({"python3", "-s", "a.py"}, Ours("/tool:/ours")),
              HasSubstr("/tool/sitecustomize.py stands in front of ours"));
  root.Write("/tool/usercustomize.py", "");
  EXPECT_THAT(Why(kPlain, Ours("/tool:/ours")), HasSubstr("stands in front of ours"));
}

TEST_F(MissingHooksTest, AVirtualEnvironmentHasNoSecondWay) {
  root.Write("/tool/sitecustomize.py", "");
  root.Write("/venv/bin/python", "");
  root.Write("/venv/pyvenv.cfg", "home = /usr/bin\ninclude-system-site-packages = false\n");
  EXPECT_THAT(Why({"/venv/bin/python", "a.py"}, Ours("/tool:/ours")), HasSubstr("stands in front"));
  root.Write("/venv/pyvenv.cfg", "include-system-site-packages = True\n");
  EXPECT_EQ(Why({"/venv/bin/python", "a.py"}, Ours("/tool:/ours")), "");
}

TEST_F(MissingHooksTest, AnInstalledPackageComesInByItself) {
  root.Write("/env/lib/stepscope-hooks.pth", "");
  EXPECT_EQ(Why({"python3", "-I", "a.py"}, Ours()), "");
  EXPECT_NE(Why({"python3", "-S", "a.py"}, Ours()), "");
  EXPECT_NE(Why(kPlain, {"PATH=/bin"}), "");
}

TEST_F(MissingHooksTest, WhereOurExtensionIsLoadedThePackageHasComeIn) {
  const Texts isolated = {"python3", "-I", "a.py"};
  Process(7, isolated, Ours());
  root.Write("/proc/7/maps", std::string(kMaps) +
                                 "7f40-7f50 r-xp 0 08:01 13 "
                                 "/venv/stepscope/_native.abi3.so\n");
  EXPECT_EQ(WhyWithoutHooks(way(), 7), "");
}

TEST_F(MissingHooksTest, OfAnotherAgentsProcessNothingIsSaid) {
  EXPECT_EQ(Why({"python3", "-I", "a.py"}, {"STEPSCOPE_JOB=k", "STEPSCOPE_SOCKET=/run/k.sock"}),
            "");
}

TEST_F(MissingHooksTest, AContainerWithoutTheSocketIsTold) {
  root.MakeFolder("/proc/7/root");
  EXPECT_THAT(Why(kPlain, Ours()), HasSubstr("socket is not in its container: mount /run there"));
  root.Write("/proc/7/root/run/j.sock", "");
  EXPECT_EQ(Why(kPlain, Ours()), "");
}

TEST_F(MissingHooksTest, AnotherUserIsTold) {
  Process(7, kPlain, Ours());
  HooksWay other = way();
  other.user = geteuid() + 1;
  EXPECT_THAT(WhyWithoutHooks(other, 7), HasSubstr("may connect to this agent"));
}

TEST_F(MissingHooksTest, LooksBelowTheCommand) {
  root.Write("/proc/3/task/3/children", "5 6 ");
  root.Write("/proc/6/task/9/children", "7 ");
  Process(7, {"python3", "-I", "a.py"}, Ours());
  EXPECT_THAT(FindMissingHooks(way(), 3), HasSubstr("pid 7, a.py"));
  EXPECT_EQ(FindMissingHooks(way(), 5), "");
  EXPECT_EQ(FindMissingHooks(way(), 4), "");
}

TEST_F(MissingHooksTest, LooksBesideWhatIsHeardAndNotBelow) {
  root.Write("/proc/3/task/3/children", "5 6 ");
  root.Write("/proc/5/task/5/children", "7 ");
  Process(7, {"python3", "-I", "helper.py"}, Ours());
  const std::vector<std::int64_t> heard = {5};
  EXPECT_EQ(FindMissingHooks(way(), 3, heard), "");
  Process(6, {"python3", "-I", "a.py"}, Ours());
  EXPECT_THAT(FindMissingHooks(way(), 3, heard), HasSubstr("pid 6, a.py"));
}

TEST_F(MissingHooksTest, EndsInACircleOfChildren) {
  root.Write("/proc/3/task/3/children", "3 3 3 ");
  EXPECT_EQ(FindMissingHooks(way(), 3), "");
}

}  // namespace
}  // namespace stepscope
