#include "agent/traces/trace_sender.h"

#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <utility>
#include <vector>

#include "agent/traces/pack_trace.h"
#include "core/base/log.h"
#include "core/base/text.h"

namespace stepscope {
namespace {

constexpr std::size_t kMostQueued = 8;
constexpr std::int64_t kMostFileBytes = 256 * 1024 * 1024;
constexpr Duration kPatience = 10min, kLongestWriting = 10s;
constexpr int kNice = 10;

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

// The size of what a process passed.
Result<std::uint64_t> SizeOf(const Descriptor& file) {
  struct stat about {};
  if (fstat(file.get(), &about) != 0 || !S_ISREG(about.st_mode)) {
    return Invalid("what the process passed is no file");
  }
  if (about.st_size <= 0 || about.st_size > kMostFileBytes) {
    return Invalid(
        Format("the file has {} bytes, and {} are the most", about.st_size, kMostFileBytes));
  }
  return static_cast<std::uint64_t>(about.st_size);
}

}  // namespace

TraceSender::TraceSender(const UplinkOptions& uplink, std::string job, SpoolFolder* spool,
                         const Clock& clock, TraceTurns* turns)
    : job_(std::move(job)),
      service_(uplink.server),
      spool_(spool),
      clock_(clock),
      turns_(turns != nullptr ? *turns : own_turns_),
      uplink_(MakeTraceUplink(uplink)) {}

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

std::size_t TraceSender::Finish(Duration patience) {
  const SteadyTime until = clock_.Steady() + patience;
  state_.Change([&](State& state) {
    state.finishing = true;
    state.until = until;
  });
  const auto packed = [](const State& state) { return state.queue.empty() && !state.busy; };
  const bool done = state_.Wait(
      {}, patience, [&](const State& state) { return packed(state) && state.waiting == 0; });
  if (!done && uplink_) (*uplink_)->Stop();
  if (!done && spool_ != nullptr) state_.Wait({}, kLongestWriting, packed);
  for (RankTrace& trace :
       state_.Change([](State& state) { return std::exchange(state.queue, {}); })) {
    Drop(std::move(trace), "the agent ends");
  }
  worker_.Change([](Worker& worker) { worker = Worker(); });
  waiting_ = nullptr;  // others may send them from here on
  const std::size_t left =
      state_.Change([](State& state) { return std::exchange(state.waiting, 0); });
  if (left > 0) {
    LogWarning(
        "{} traces of job {} wait in the spool; an agent on this node delivers them, or "
        "stepscope-agent flush",
        left, job_);
  }
  return left;
}

void TraceSender::Drop(RankTrace trace, std::string_view reason) {
  LogWarning("{} are dropped: {}", NameOf(trace), reason);
  closer_.Close(0, std::move(trace.file));
}

void TraceSender::Run(std::stop_token stop) {
  // The priority is of this thread alone.
  setpriority(PRIO_PROCESS, static_cast<id_t>(gettid()), kNice);
  bool hurried = false;  // what waits is tried at once when the end comes
  while (!stop.stop_requested()) {
    const bool waits = CountWaiting() > 0;
    const Duration pause = waits ? std::max<Duration>(next_try_ - clock_.Steady(), 0s) : 1h;
    state_.Wait(stop, pause, [&](const State& state) {
      return !state.queue.empty() || (state.finishing && !hurried);
    });
    hurried = state_.Read([](const State& state) { return state.finishing; });
    if (stop.stop_requested()) return;
    if (std::optional<RankTrace> trace = Next()) {
      Take(std::move(*trace), stop);
    } else if (waits) {
      SendWaiting();
    }
    state_.Change([](State& state) { state.busy = false; });
  }
}

std::optional<RankTrace> TraceSender::Next() {
  return state_.Change([](State& state) -> std::optional<RankTrace> {
    if (state.queue.empty()) return std::nullopt;
    std::optional<RankTrace> next(std::move(state.queue.front()));
    state.queue.pop_front();
    state.busy = true;
    return next;
  });
}

// Reads by position, since the process that passed the file may move its own.
Result<PackedBody> TraceSender::Pack(const RankTrace& trace) {
  const Result<std::uint64_t> size = SizeOf(trace.file);
  if (!size) return size.error();
  if (!turns_.Take(trace.user, *size, clock_.Steady())) {
    return Unavailable(
        Format("user {} passed more trace files than the agent packs, which are {} "
               "MiB a minute",
               trace.user, TraceTurns::kBytesAMinute / 1024 / 1024));
  }
  std::uint64_t at = 0;
  const auto read = [&](std::span<char> into) -> std::size_t {
    const auto most = std::size_t(std::min<std::uint64_t>(into.size(), *size - at));
    const ssize_t got = pread(trace.file.get(), into.data(), most, off_t(at));
    if (got <= 0) return 0;
    at += std::uint64_t(got);
    return std::size_t(got);
  };
  const auto turn = turns_.Wait();
  return PackTrace(read, kMostTraceBody);
}

// Traces that wait in the spool go first.
void TraceSender::Take(RankTrace trace, std::stop_token stop) {
  const Result<PackedBody> body = Pack(trace);
  WaitingTrace packed{.service = service_, .path = PathOf(job_, trace), .name = NameOf(trace)};
  closer_.Close(0, std::move(trace.file));
  const std::string fault = !body ? body.error().message : !uplink_ ? uplink_.error().message : "";
  if (!fault.empty()) return LogWarning("{} are dropped: {}", packed.name, fault);
  packed.read = [&body](std::uint64_t at, std::span<char> into) { return body->Read(at, into); };
  packed.bytes = body->bytes;
  packed.crc32c = body->crc32c;
  const bool first = state_.Read([](const State& state) { return state.waiting == 0; });
  if (first && IsOver(packed, PostTrace(**uplink_, packed), false)) return;
  if (!Keep(packed)) RetryUntilOver(packed, stop);
}

// Whether the trace needs no further try, which is logged. `knows_jobs`: by now.
bool TraceSender::IsOver(const WaitingTrace& packed, const TraceAnswer& answer, bool knows_jobs) {
  using enum TraceAnswer::End;
  if (answer.end == kTaken) {
    LogInfo("{} are sent: {} bytes", packed.name, packed.bytes);
  } else if (answer.end == kRefused || (answer.end == kUnknownJob && knows_jobs)) {
    LogWarning("{} are dropped: {}", packed.name, answer.reason);
  } else {
    return false;
  }
  return true;
}

bool TraceSender::Keep(const WaitingTrace& packed) {
  if (spool_ == nullptr) return false;
  if (!waiting_) waiting_ = std::make_unique<WaitingTraces>(*spool_);
  if (const Status kept = waiting_->Keep(packed); !kept) {
    LogWarning("{} cannot wait on disk: {}", packed.name, kept.error().message);
    return false;
  }
  (void)CountWaiting();
  LogInfo("{} wait in the spool: {} bytes", packed.name, packed.bytes);
  return true;
}

// Tries the oldest one.
void TraceSender::SendWaiting() {
  const std::vector<std::string> files = waiting_->Files();
  if (files.empty()) return;
  const std::string& file = files.front();
  const Result<WaitingTrace> packed = waiting_->Read(file);
  if (!packed) {
    LogWarning("operators of job {} that waited in the spool are lost: {}", job_,
               packed.error().message);
    return Forget(file);
  }
  const SteadyTime now = clock_.Steady();
  if (first_tried_ == SteadyTime{}) first_tried_ = now;
  const TraceAnswer answer = PostTrace(**uplink_, *packed);
  if (IsOver(*packed, answer, now - first_tried_ >= kPatience)) return Forget(file);
  const bool finishing = state_.Read([](const State& state) { return state.finishing; });
  pause_ = finishing ? kTracePause : std::clamp(2 * pause_, kTracePause, kLongestTracePause);
  next_try_ = clock_.Steady() + std::max(answer.wait, pause_);
}

// Samples that need the room may have removed some.
std::size_t TraceSender::CountWaiting() {
  const std::size_t count = waiting_ ? waiting_->Files().size() : 0;
  if (state_.Read([&](const State& state) { return state.waiting != count; })) {
    state_.Change([&](State& state) { state.waiting = count; });
  }
  return count;
}

void TraceSender::Forget(const std::string& file) {
  waiting_->Remove(file);
  pause_ = {};
  next_try_ = first_tried_ = {};
}

bool TraceSender::GivesUp(SteadyTime began, std::stop_token stop) const {
  const SteadyTime now = clock_.Steady();
  const bool late =
      state_.Read([&](const State& state) { return state.finishing && now >= state.until; });
  return late || stop.stop_requested() || now - began >= kPatience;
}

void TraceSender::RetryUntilOver(const WaitingTrace& packed, std::stop_token stop) {
  const SteadyTime began = clock_.Steady();
  for (;;) {
    const TraceAnswer answer = PostTrace(**uplink_, packed);
    if (IsOver(packed, answer, false)) return;
    if (!GivesUp(began, stop)) SleepFor(stop, std::max(answer.wait, kTracePause));
    if (GivesUp(began, stop)) {
      return LogWarning("{} are dropped: {}", packed.name, answer.reason);
    }
  }
}

}  // namespace stepscope
