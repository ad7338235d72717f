#include "agent/traces/trace_sender.h"

#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <utility>

#include "agent/traces/pack_trace.h"
#include "core/base/json.h"
#include "core/base/log.h"
#include "core/base/text.h"

namespace stepscope {
namespace {

constexpr std::size_t kMostQueued = 8;
constexpr std::int64_t kMostFileBytes = 256 * 1024 * 1024;
constexpr Duration kPatience = 10min, kRequestLimit = 2min, kPause = 2s;
constexpr int kNice = 10;
constexpr char kOctets[] = "application/octet-stream";

std::string NameOf(const RankTrace& trace) {
  return Format("the operators of rank {} in window {}", trace.rank, trace.said.window);
}

std::string PathOf(const std::string& job, const RankTrace& trace) {
  const MarkTrace& said = trace.said;
  const std::string file = said.window != 0
                               ? Format("window-{}-rank-{}.json", said.window, trace.rank)
                               : Format("step-{}-rank-{}.json", said.first_step, trace.rank);
  std::string path = Format("/api/v1/jobs/{}/traces?file={}&rank={}", job, file, trace.rank);
  if (said.window != 0) path += Format("&window={}", said.window);
  path += Format("&first_step={}&steps={}&start_us={}&stop_us={}&save_us={}", said.first_step,
                 said.steps, said.start_us, said.stop_us, said.save_us);
  if (!said.note.empty()) path += "&note=" + QueryEncoded(said.note);
  if (!said.by.empty()) path += "&by=" + QueryEncoded(said.by);
  if (said.slower_us >= 0) path += Format("&slower_us={}", said.slower_us);
  return path;
}

// Reads by position, since the process that passed the file may move its own.
Result<std::string> PackFile(const Descriptor& file) {
  struct stat about {};
  if (fstat(file.get(), &about) != 0 || !S_ISREG(about.st_mode)) {
    return Invalid("what the process passed is no file");
  }
  if (about.st_size <= 0 || about.st_size > kMostFileBytes) {
    return Invalid(
        Format("the file has {} bytes, and {} are the most", about.st_size, kMostFileBytes));
  }
  off_t at = 0;
  const auto read = [&](std::span<char> into) -> std::size_t {
    const auto left = static_cast<std::size_t>(std::max<off_t>(about.st_size - at, 0));
    const ssize_t got = pread(file.get(), into.data(), std::min(into.size(), left), at);
    if (got <= 0) return 0;
    at += got;
    return static_cast<std::size_t>(got);
  };
  return PackTrace(read, kMostTraceBody);
}

std::string Detail(const HttpAnswer& answer) {
  const auto json = ParseJson(answer.body, {.bytes = 1024 * 1024, .values = 10'000});
  if (json && json->is_object() && json->contains("detail") && (*json)["detail"].is_string()) {
    return Printable((*json)["detail"].get<std::string>());
  }
  return Format("HTTP status {}", answer.status);
}

// The job's start may be on its way, and the service busy.
bool MayTryAgain(int status) {
  return status == 404 || status == 429 || status >= 500;
}

}  // namespace

TraceSender::TraceSender(UplinkOptions uplink, std::string job, const Clock& clock)
    : uplink_(std::move(uplink)), job_(std::move(job)), clock_(clock) {
  uplink_.request_limit = kRequestLimit;
}

TraceSender::~TraceSender() {
  Finish(0s);
}

void TraceSender::Add(RankTrace trace) {
  const char* const fault = state_.Change([&](State& state) {
    if (state.finishing) return "the agent ends";
    if (state.queue.size() >= kMostQueued) return "as many as may wait do so";
    state.queue.push_back(std::move(trace));
    return "";
  });
  if (*fault != '\0') return Drop(std::move(trace), fault);
  worker_.Change([this](Worker& worker) {
    if (worker.started()) return;
    worker = Worker("traces", [this](std::stop_token stop) { Run(stop); });
  });
}

void TraceSender::Finish(Duration patience) {
  const SteadyTime until = clock_.Steady() + patience;
  state_.Change([&](State& state) {
    state.finishing = true;
    state.until = until;
  });
  const bool done = state_.Wait(
      {}, patience, [](const State& state) { return state.queue.empty() && !state.busy; });
  if (!done) {
    for (RankTrace& trace :
         state_.Change([](State& state) { return std::exchange(state.queue, {}); })) {
      Drop(std::move(trace), "the agent ends");
    }
  }
  worker_.Change([](Worker& worker) { worker = Worker(); });
}

void TraceSender::Drop(RankTrace trace, std::string_view reason) {
  LogWarning("{} are dropped: {}", NameOf(trace), reason);
  closer_.Close(0, std::move(trace.file));
}

void TraceSender::Run(std::stop_token stop) {
  // Of this thread alone.
  setpriority(PRIO_PROCESS, static_cast<id_t>(gettid()), kNice);
  while (state_.Wait(stop, 1h, [](const State& state) { return !state.queue.empty(); }) ||
         !stop.stop_requested()) {
    RankTrace trace;
    const bool any = state_.Change([&](State& state) {
      if (state.queue.empty()) return false;
      trace = std::move(state.queue.front());
      state.queue.pop_front();
      return state.busy = true;
    });
    if (any) Send(std::move(trace), stop);
    state_.Change([](State& state) { state.busy = false; });
    if (stop.stop_requested()) return;
  }
}

void TraceSender::Send(RankTrace trace, std::stop_token stop) {
  const Result<std::string> body = PackFile(trace.file);
  const std::string name = NameOf(trace), path = PathOf(job_, trace);
  closer_.Close(0, std::move(trace.file));
  const std::string fault = body ? SendBody(path, *body, stop) : body.error().message;
  if (fault.empty()) return LogInfo("{} are sent: {} bytes", name, body->size());
  LogWarning("{} are dropped: {}", name, fault);
}

bool TraceSender::GivesUp(SteadyTime began, std::stop_token stop) const {
  const SteadyTime now = clock_.Steady();
  const bool late =
      state_.Read([&](const State& state) { return state.finishing && now >= state.until; });
  return late || stop.stop_requested() || now - began >= kPatience;
}

// Returns the reason why it was not taken, or "".
std::string TraceSender::SendBody(const std::string& path, const std::string& body,
                                  std::stop_token stop) {
  auto uplink = Uplink::Make(uplink_);
  if (!uplink) return uplink.error().message;
  const std::stop_callback ends(stop, [&] { (*uplink)->Stop(); });
  const SteadyTime began = clock_.Steady();
  for (;;) {
    const auto answer = (*uplink)->PostTo(path, kOctets, body);
    if (answer && (answer->status == 200 || answer->status == 201)) return "";
    const std::string fault = answer ? Detail(*answer) : answer.error().message;
    if (answer && !MayTryAgain(answer->status)) return fault;
    if (GivesUp(began, stop)) return fault;
    const Duration wanted = answer ? answer->RetryAfter(10s) : Duration(0);
    SleepFor(stop, std::max<Duration>(wanted, kPause));
    if (GivesUp(began, stop)) return fault;
  }
}

}  // namespace stepscope
