#include "agent/frames/lifecycle.h"

#include <sys/utsname.h>
#include <unistd.h>

#include <algorithm>
#include <utility>

#include "agent/collect/source.h"
#include "agent/host/memory.h"
#include "core/base/json.h"
#include "core/base/text.h"

namespace stepscope {
namespace {

constexpr std::size_t kMostWords = 64;
constexpr std::size_t kLongestWord = 256;
// A secret is looked for in more of a word than is sent, so that none is cut before it is known.
constexpr std::size_t kLongestSecretWord = 4096;

// A command line can be megabytes long; people recognise it by its beginning.
Json ShortCommand(const JobStart& start) {
  Json words = Json::array();
  if (!start.secrets.sends_command) return words;
  const std::size_t count = std::min(start.command.size(), kMostWords);
  std::vector<std::string> known;
  for (std::size_t i = 0; i < count; ++i)
    known.push_back(start.command[i].substr(0, kLongestSecretWord));
  for (const std::string& word : HideSecretWords(std::move(known), start.secrets.more_names))
    words.push_back(ValidUtf8(word.substr(0, kLongestWord)));
  if (start.command.size() > kMostWords) words.push_back("...");
  return words;
}

Json ToJson(const GpuFacts& gpu) {
  Json json = {{"device", gpu.device}, {"name", ValidUtf8(gpu.name)}};
  if (gpu.memory_bytes != 0) json["memory_bytes"] = gpu.memory_bytes;
  if (!gpu.uuid.empty()) json["uuid"] = ValidUtf8(gpu.uuid);
  if (!gpu.pci_address.empty()) json["pci_address"] = ValidUtf8(gpu.pci_address);
  if (gpu.mig) json["mig"] = *gpu.mig;
  return json;
}

// What the job may not use of the node is left out where nothing is known to bound it.
void PutLimits(const NodeFactsPayload& node, Json& facts) {
  const ProcessLimits& limits = node.limits;
  if (limits.cores != 0) facts["cores_allowed"] = limits.cores;
  if (limits.cpu_quota) facts["cpu_quota"] = *limits.cpu_quota;
  if (limits.memory_bytes && *limits.memory_bytes < node.memory_bytes)
    facts["memory_allowed_bytes"] = *limits.memory_bytes;
}

}  // namespace

NodeFactsPayload ReadNodeFacts(const std::string& root) {
  NodeFactsPayload facts;
  facts.cores = static_cast<unsigned>(std::max(1L, sysconf(_SC_NPROCESSORS_ONLN)));
  if (auto source = Source::Open(root, "/proc/meminfo")) {
    const auto text = source->Read();
    const auto memory = text ? ParseMemory(*text) : Result<MemoryFigures>(text.error());
    if (memory) facts.memory_bytes = memory->total_bytes;
  }
  utsname name{};
  if (uname(&name) == 0) facts.kernel = name.release;
  return facts;
}

std::string StartedEvent(const JobStart& start) {
  Json absent = Json::array();
  for (const AbsentSource& one : start.facts.absent) {
    absent.push_back({{"source", one.source}, {"reason", ValidUtf8(one.reason)}});
  }
  Json gpus = Json::array();
  for (const GpuFacts& gpu : start.facts.gpus) gpus.push_back(ToJson(gpu));
  Json facts = {{"cores", start.facts.cores},
                {"memory_bytes", start.facts.memory_bytes},
                {"gpus", gpus},
                {"kernel", ValidUtf8(start.facts.kernel)},
                {"agent_version", start.facts.agent_version},
                {"allows", start.facts.allows},
                {"absent", absent}};
  Json slowed = Json::array();
  for (const SlowedReading& one : start.facts.slowed)
    slowed.push_back({{"source", one.name}, {"period_s", ToSeconds(one.period)}});
  if (!slowed.empty()) facts["read_seldom"] = std::move(slowed);
  PutLimits(start.facts, facts);
  if (!start.facts.user.empty()) facts["user"] = ValidUtf8(start.facts.user);
  if (!start.facts.account.empty()) facts["account"] = ValidUtf8(start.facts.account);
  if (!start.facts.hooks_missing.empty())
    facts["hooks_missing"] = ValidUtf8(start.facts.hooks_missing);
  return Dump(Json{{"event", "started"},
                   {"at_us", ToMicros(start.at)},
                   {"group", start.group},
                   {"interval_ms", start.interval / 1ms},
                   {"command", ShortCommand(start)},
                   {"facts", facts}});
}

std::string EndedEvent(Time at, const CommandEnd& end,
                       const std::optional<std::vector<std::string>>& output) {
  Json event = {{"event", "ended"}, {"at_us", ToMicros(at)}, {"output", nullptr}};
  if (output) event["output"] = *output;
  if (!end.reason.empty()) event["reason"] = end.reason;
  if (end.signal != 0) {
    event["signal"] = end.signal;
  } else {
    event["exit_code"] = end.exit_code;
  }
  return Dump(event);
}

std::string AnsweredEvent(Time at, const std::string& command, const std::string& reason) {
  return Dump(Json{{"event", "answered"},
                   {"at_us", ToMicros(at)},
                   {"command", command},
                   {"outcome", reason.empty() ? "done" : "refused"},
                   {"reason", reason}});
}

std::string AnsweredEvent(const SpanWindowEnd& end) {
  return Dump(Json{{"event", "answered"},
                   {"at_us", ToMicros(end.at)},
                   {"command", end.command},
                   {"outcome", end.recorded ? "done" : "refused"},
                   {"reason", end.reason},
                   {"spans", end.spans},
                   {"dropped", end.dropped}});
}

std::string UnobservedEndEvent(Time at) {
  return Dump(Json{{"event", "ended"},
                   {"at_us", ToMicros(at)},
                   {"exit_code", nullptr},
                   {"output", Json::array()}});
}

std::string RankEvent(const RankRegistration& rank) {
  Json event = {{"event", "rank"}, {"at_us", ToMicros(rank.at)}, {"rank", rank.rank}};
  const auto facts = ParseJson(rank.facts);
  event["facts"] = facts && facts->is_object() ? *facts : Json::object();
  return Dump(event);
}

std::string RankEndedEvent(const RankEnd& rank) {
  return Dump(Json{{"event", "rank_ended"}, {"at_us", ToMicros(rank.at)}, {"rank", rank.rank}});
}

}  // namespace stepscope
