#include "agent/app/commands/check.h"

#include <gtest/gtest.h>
#include <sys/stat.h>

#include <filesystem>

#include "core/base/json.h"
#include "core/base/text.h"
#include "tests/support/agent_process.h"
#include "tests/support/fake_root.h"
#include "tests/support/scripted_server.h"

namespace stepscope {
namespace {

using test::AgentProcess;
using test::Peer;
using test::ScriptedServer;

std::string Find(const CheckLines& lines, std::string_view name) {
  for (const CheckLine& line : lines) {
    if (line.name == name) return Format("{}: {}", ToText(line.finding), line.text);
  }
  return "";
}

// The results of check for a service with this answer.
CheckLines Check(int status, const std::string& body, const std::string& token = "") {
  ScriptedServer server([&](Peer& peer) {
    while (peer.Read()) peer.Reply(status, body);
  });
  CheckLines lines;
  CheckService({.server = server.url(), .token = token}, SystemClock(), lines);
  return lines;
}

std::string SessionOf(std::string_view role, std::string_view access, Duration ahead = 0s) {
  return Format(
      R"({{"name":"n7","role":"{}","scopes":["team-*"],"expires_us":null,"access":"{}","version":"9.8.7","server_time_us":{}}})",
      role, access, ToMicros(SystemClock().Now() + ahead));
}

TEST(Check, SaysWhatTheServiceIs) {
  const CheckLines open = Check(200, SessionOf("admin", "open"));
  EXPECT_NE(Find(open, "reachable").find("Stepscope 9.8.7"), std::string::npos);
  EXPECT_TRUE(Find(open, "token").starts_with("none: none is needed"));
  EXPECT_TRUE(Find(open, "clock").starts_with("ok: "));
  EXPECT_TRUE(AllIsWell(open));
  const CheckLines agent = Check(200, SessionOf("agent", "tokens"), "st_x");
  EXPECT_EQ(Find(agent, "token"), "ok: n7: role agent, jobs team-*");
}

TEST(Check, SaysWhatIsWrongWithTheToken) {
  const CheckLines reader = Check(200, SessionOf("reader", "tokens"), "st_x");
  EXPECT_TRUE(Find(reader, "token").starts_with("wrong: its role is reader"));
  EXPECT_FALSE(AllIsWell(reader));
  EXPECT_TRUE(Find(Check(200, SessionOf("admin", "tokens"), "st_x"), "token").starts_with("note"));
  const std::string problem = R"({"code":"unauthorized","detail":"the token is not valid"})";
  EXPECT_EQ(Find(Check(401, problem, "st_x"), "token"), "wrong: the token is not valid");
  EXPECT_TRUE(Find(Check(401, problem), "token").starts_with("wrong: the service demands one"));
}

TEST(Check, NoticesOtherServicesAndClocks) {
  EXPECT_TRUE(Find(Check(200, "<html>"), "reachable").starts_with("wrong: something that is not"));
  EXPECT_TRUE(Find(Check(404, "{}"), "reachable").starts_with("wrong: something that is not"));
  const CheckLines late = Check(200, SessionOf("agent", "tokens", 60s), "st_x");
  EXPECT_TRUE(Find(late, "clock").starts_with("note: ")) << Find(late, "clock");
  EXPECT_NE(Find(late, "clock").find("behind the service's"), std::string::npos);
  CheckLines lines;
  CheckService({.server = ScriptedServer([](Peer&) {}).url()}, SystemClock(), lines);
  EXPECT_TRUE(Find(lines, "reachable").starts_with("wrong: http://127.0.0.1:"));
}

std::string PythonLine(const std::vector<std::string>& command) {
  CheckLines lines;
  CheckPython(command, SystemClock(), lines);
  return Find(lines, "python");
}

// Stands for a Python: it prints this answer to any question.
std::string FakePython(const test::FakeRoot& root, const std::string& answer) {
  root.Write("/bin/python3", Format("#!/bin/sh\necho noise\necho '{}'\n", answer));
  chmod((root.path() + "/bin/python3").c_str(), 0700);
  return root.path() + "/bin/python3";
}

TEST(Check, SaysWhetherTheHooksComeIntoAPython) {
  test::FakeRoot root;
  const std::string seen = PythonLine({FakePython(root, "3 11 1 /ours/sitecustomize.py")});
  EXPECT_TRUE(seen.starts_with("ok: ")) << seen;
  const std::string python = FakePython(root, "3 11 0 /tool/sitecustomize.py");
  EXPECT_NE(PythonLine({python, "-I", "a.py"}).find("-I ignores PYTHONPATH"), std::string::npos);
  EXPECT_TRUE(PythonLine({python, "-S"}).starts_with("note: "));
  EXPECT_NE(PythonLine({FakePython(root, "3 8 1 ")}).find("older than Python 3.9"),
            std::string::npos);
  EXPECT_TRUE(PythonLine({FakePython(root, "Segmentation fault")}).starts_with("none: no "));
  EXPECT_TRUE(PythonLine({root.path() + "/nowhere/python3"}).starts_with("none: no "));
}

// Stands for a Python that the hooks reach through the variable in which `run` names the job.
std::string PythonOfVariable(const test::FakeRoot& root) {
  // 1 with the variable, 0 without: the quotes end the text that the others give as it is.
  return FakePython(root, "3 11 '$((${STEPSCOPE_JOB:+1}+0))' x");
}

TEST(Check, SaysWhetherTheHooksComeThroughAnEnv) {
  test::FakeRoot root;
  const std::string python = PythonOfVariable(root);
  EXPECT_TRUE(PythonLine({"env", "-u", "B", "A=1", python, "a.py"}).starts_with("ok: "));
  for (const char* away : {"-i", "-", "--ignore-environment", "-uSTEPSCOPE_JOB"}) {
    const std::string line = PythonLine({"/usr/bin/env", away, "A=1", python, "a.py"});
    EXPECT_TRUE(line.starts_with("note: ")) << line;
    EXPECT_NE(line.find("env takes variables away"), std::string::npos) << line;
  }
}

TEST(Check, KnowsNothingOfThePythonsThatAProgramStarts) {
  EXPECT_NE(PythonLine({"torchrun", "a.py"}).find("which Python torchrun starts is not known"),
            std::string::npos);
}

std::string SpoolLine(const SpoolOptions& options) {
  CheckLines lines;
  CheckSpool(options, lines);
  return Find(lines, "spool");
}

TEST(Check, SaysWhereSamplesWait) {
  const test::FakeRoot root;
  root.Write("/spool/1/a.seg", std::string(3 << 20, 'x'));
  const std::string folder = root.path() + "/spool";
  chmod(folder.c_str(), 0755);
  EXPECT_EQ(SpoolLine({.folder = folder, .bytes = 64 << 20}),
            Format("wrong: {}: is open to others; chmod 700 makes it yours; or choose another "
                   "with --spool, or 'none'",
                   folder));
  chmod(folder.c_str(), 0700);
  EXPECT_TRUE(SpoolLine({.folder = folder, .bytes = 64 << 20})
                  .starts_with(Format("ok: {}: 3 MiB in it", folder)));
  EXPECT_TRUE(SpoolLine({.folder = folder + "/not/yet", .bytes = 64 << 20}).starts_with("ok: "));
  EXPECT_FALSE(std::filesystem::exists(folder + "/not")) << "it only looks";
  EXPECT_TRUE(SpoolLine({.folder = folder, .bytes = UINT64_MAX}).starts_with("note: "));
  EXPECT_EQ(SpoolLine({}), "none: samples wait in memory only");
  EXPECT_TRUE(SpoolLine({.folder = folder + "/1/a.seg", .bytes = 1}).starts_with("wrong: "))
      << "a file";
}

TEST(Check, CountsTheSeriesOfEachCollector) {
  const test::FakeRoot root;
  root.Write("/proc/net/snmp", "Tcp: RetransSegs\nTcp: 5\n");  // read every 2 s
  CheckLines lines;
  CheckMachine(root.path(), SystemClock(), lines);
  EXPECT_TRUE(Find(lines, "cpu").starts_with("none: ")) << Find(lines, "cpu");
  EXPECT_EQ(Find(lines, "tcp"), "ok: 1 series");
  lines.clear();
  CheckMachine("", SystemClock(), lines);
  EXPECT_TRUE(Find(lines, "memory").starts_with("ok: "));
  EXPECT_NE(Find(lines, "one tick").find(" us"), std::string::npos);
}

TEST(Check, SaysWhichGpusACommandMayUse) {
  const auto tests = std::filesystem::read_symlink("/proc/self/exe").parent_path();
  setenv("LD_LIBRARY_PATH", (tests / "fake_nvml").c_str(), 1);
  setenv("FAKE_NVML_GPUS", "4", 1);
  setenv("CUDA_VISIBLE_DEVICES", "1,3", 1);
  AgentProcess agent({"check"});
  for (const char* name : {"LD_LIBRARY_PATH", "FAKE_NVML_GPUS", "CUDA_VISIBLE_DEVICES"})
    unsetenv(name);
  EXPECT_EQ(agent.Wait(), 0);
  agent.WaitForEnd();
  EXPECT_NE(agent.out().find(", and 2 of 4 GPUs: gpu1, gpu3"), std::string::npos) << agent.out();
}

TEST(Check, SaysWhatSourcesAndDriverCallsCost) {
  const auto tests = std::filesystem::read_symlink("/proc/self/exe").parent_path();
  setenv("LD_LIBRARY_PATH", (tests / "fake_nvml").c_str(), 1);
  setenv("FAKE_NVML_CHARGES", "1", 1);
  setenv("FAKE_NVML_GPUS", "8", 1);
  AgentProcess agent({"check", "--cost", "--budget", "0.04"});
  for (const char* name : {"LD_LIBRARY_PATH", "FAKE_NVML_CHARGES", "FAKE_NVML_GPUS"})
    unsetenv(name);
  EXPECT_EQ(agent.Wait(), 0);
  agent.WaitForEnd();
  const std::string said = agent.out();
  for (const char* text :
       {"cost of reading", "of one process: each of a rank's costs as much", "% of a core; a tick",
        "the budget is 0.04 %", "processor counters are read every", "GpmSampleGet", "us of CPU"}) {
    EXPECT_NE(said.find(text), std::string::npos) << text << " in:\n" << said;
  }
  AgentProcess brief({"check"});
  EXPECT_EQ(brief.Wait(), 0);
  brief.WaitForEnd();
  EXPECT_EQ(brief.out().find("cost of"), std::string::npos);
}

TEST(Check, EndsWithWhatItFound) {
  setenv("KINETO_USE_DAEMON", "1", 1);
  AgentProcess fine({"check"});
  unsetenv("KINETO_USE_DAEMON");
  EXPECT_EQ(fine.Wait(), 0);
  EXPECT_TRUE(fine.WaitForOut("note   kineto     KINETO_USE_DAEMON is set"));
  EXPECT_TRUE(fine.WaitForOut("Everything that was asked for works."));
  AgentProcess away({"check", "--json", "--server", ScriptedServer([](Peer&) {}).url()});
  EXPECT_EQ(away.Wait(), 1);
  away.WaitForEnd();
  const auto json = ParseJson(away.out());
  ASSERT_TRUE(json.ok()) << away.out();
  EXPECT_EQ((*json)["ok"], false);
  AgentProcess wrong({"check", "--server", "ftp://h"});
  EXPECT_EQ(wrong.Wait(), 2);
}

}  // namespace
}  // namespace stepscope
