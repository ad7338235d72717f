// Servers that attack the whole program: the command runs on, and the agent stays small.

#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>

#include "core/base/text.h"
#include "tests/support/agent_process.h"
#include "tests/support/eventually.h"
#include "tests/support/fake_root.h"
#include "tests/support/scripted_server.h"

namespace stepscope {
namespace {

using test::AgentProcess;
using test::Peer;
using test::ScriptedServer;

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
constexpr long kMostKb = 512 * 1024;  // includes memory that the sanitizer keeps
#else
constexpr long kMostKb = 64 * 1024;
#endif

struct Hostile {
  std::string name;
  ScriptedServer::Script script;
  bool holds = false;  // the agent waits to its own limit
};

void Flood(Peer& peer, std::string_view beginning, std::string_view piece) {
  peer.Read();
  peer.Write(beginning);
  while (peer.Write(piece)) {
  }
}

void Drip(Peer& peer, std::string_view beginning) {
  peer.Write(beginning);
  while (peer.Pause(5) && peer.Write("y")) {
  }
}

std::string Repeat(std::string_view text, int times) {
  std::string all;
  for (int i = 0; i < times; ++i) all += text;
  return all;
}

void Say(Peer& peer, int status, std::string_view body, std::string_view headers = "") {
  while (peer.Read() && peer.Reply(status, body, headers)) {
  }
}

const Hostile kHostile[] = {
    {"silent", [](Peer& peer) { peer.WaitClosed(); }, true},
    {"closing", [](Peer&) {}},
    {"resetting", [](Peer& peer) { peer.Read(), peer.Reset(); }},
    {"dripping", [](Peer& peer) { Drip(peer, "HTTP/1.1 200 X\r\nX: "); }, true},
    {"endless head", [](Peer& peer) { Flood(peer, "HTTP/1.1 200 X\r\n", "X: y\r\n"); }},
    {"endless body",
     [](Peer& peer) { Flood(peer, "HTTP/1.1 200 X\r\n\r\n", std::string(65536, 'y')); }},
    {"deep JSON", [](Peer& peer) { Say(peer, 200, std::string(60'000, '[')); }},
    {"deep problem", [](Peer& peer) { Say(peer, 409, Repeat("{\"a\":", 10'000)); }},
    {"mad numbers",
     [](Peer& peer) {
       Say(peer, 409, R"({"code":"gap","expected":18446744073709551615,"detail":"x"})");
     }},
    {"controls in its reason",
     [](Peer& peer) {
       Say(peer, 401, "{\"code\":\"unauthorized\",\"detail\":\"\\u001b[2J\\n\"}");
     }},
    {"redirecting", [](Peer& peer) { Say(peer, 307, "", "Location: http://127.0.0.1:9/\r\n"); }},
    {"of compressed words",
     [](Peer& peer) { Say(peer, 200, "\x1f\x8b\x08", "Content-Encoding: gzip\r\n"); }},
};

long PeakKb(pid_t pid) {
  std::ifstream status(Format("/proc/{}/status", pid));
  std::string line;
  while (std::getline(status, line)) {
    if (line.starts_with("VmHWM:")) return std::stol(line.substr(6));
  }
  return -1;
}

void PrintTo(const Hostile& hostile, std::ostream* out) {
  *out << hostile.name;
}

class HostileService : public testing::TestWithParam<Hostile> {};
INSTANTIATE_TEST_SUITE_P(Each, HostileService, testing::ValuesIn(kHostile), [](const auto& of) {
  std::string name = of.param.name;
  std::ranges::replace(name, ' ', '_');
  return name;
});

TEST_P(HostileService, CostsTheCommandNothing) {
  const test::FakeRoot folder;
  folder.Write("/token", "secret-token");
  chmod((folder.path() + "/token").c_str(), 0600);
  ScriptedServer service(GetParam().script);
  AgentProcess agent(
      {"run", "--server", service.url(), "--job", "job-1", "--push", "1s", "--interval", "100ms",
       "--socket", folder.path() + "/sock", "--token-file", folder.path() + "/token", "--",
       "/bin/sh", "-c",
       Format("echo $$; until test -e {}/go; do sleep 0.02; done; exit 5", folder.path())});
  ASSERT_TRUE(agent.WaitForOut("\n"));
  ASSERT_TRUE(Eventually([&] { return service.connections() > 0; }));
  if (!GetParam().holds) {
    ASSERT_TRUE(agent.WaitForErr("the service does not take samples"));
  }
  const long peak_kb = PeakKb(agent.pid());
  folder.Write("/go", "");
  EXPECT_TRUE(Eventually([&] { return kill(std::stoi(agent.out()), 0) != 0; }));
  agent.Signal(SIGINT);  // it would wait ten seconds for the service
  EXPECT_EQ(agent.Wait(), 5);
  agent.WaitForEnd();
  EXPECT_LT(peak_kb, kMostKb);
  EXPECT_GT(peak_kb, 0);
  EXPECT_EQ(agent.err().find("secret-token"), std::string::npos);
  EXPECT_EQ(agent.err().find('\x1b'), std::string::npos);
  EXPECT_LT(service.connections(), 50);
}

}  // namespace
}  // namespace stepscope
