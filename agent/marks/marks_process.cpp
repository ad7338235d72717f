#include "agent/marks/marks_process.h"

#include <sys/socket.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <functional>
#include <utility>

#include "core/base/text.h"
#include "core/model/span_bins.h"

namespace stepscope {
namespace {

constexpr int kMessagesAtOnce = 512;
constexpr std::size_t kMostMessages = 20'000;
constexpr std::size_t kMostRings = 64;
constexpr std::size_t kMostFacts = 64;

// Clamps instead of overflowing: a faulty process may send any number.
Duration Moved(Duration base, Duration by) {
  return Duration(static_cast<std::int64_t>(static_cast<std::uint64_t>(base.count()) +
                                            static_cast<std::uint64_t>(by.count())));
}

// The annotation that the hooks make of an evaluation.
constexpr std::string_view kEvaluation = "evaluation";

// Gives the rank the steps of a ring, whose address identifies it.
template <typename Ring>
HeldSteps::Take AddTo(RankRecord& rank, const Ring& ring) {
  return [&rank, &ring](const Step& step, std::uint64_t start_ns) {
    rank.AddStep({&ring, ring.pid}, step, start_ns);
  };
}

}  // namespace

// Ends the connection now, also while the closer still waits for another descriptor.
MarkProcess::~MarkProcess() {
  shutdown(socket_.get(), SHUT_RDWR);
  closer_.Close(user_, std::move(socket_));
}

Result<MarkProcess::State> MarkProcess::Receive() {
  Passed passed;
  Result<State> state = State::kOpen;
  for (int i = 0; i < kMessagesAtOnce; ++i) {
    const Result<MarkPacket> packet = ReceivePacket(socket_, passed);
    const bool any = packet && packet->state == MarkPacket::kPacket;
    if (any) {
      state = Take(packet->bytes, passed);
    } else if (!packet) {
      state = packet.error();
    } else if (packet->state == MarkPacket::kClosed) {
      state = State::kEnded;
    }
    for (Descriptor& each : passed) closer_.Close(user_, std::move(each));
    passed.clear();
    if (!any || !state || state.value() == State::kEnded) break;
  }
  return state;
}

Result<MarkProcess::State> MarkProcess::Take(std::string_view bytes, Passed& passed) {
  if (++messages_ > kMostMessages) return Invalid("too many messages");
  const Result<MarkMessage> message = DecodeMarkMessage(bytes);
  if (!message) return message.error();
  return Take(*message, passed);
}

Result<MarkProcess::State> MarkProcess::Take(const MarkMessage& message, Passed& passed) {
  const auto* hello = std::get_if<MarkHello>(&message);
  if ((hello != nullptr) == introduced_) {
    return Invalid(introduced_ ? "a second hello" : "a message before the hello");
  }
  if (hello != nullptr || std::holds_alternative<MarkRing>(message)) {
    if (const Status added = AddRing(passed); !added) return added.error();
  }
  if (hello != nullptr) {
    source_.hello = *hello;
    introduced_ = true;
  } else if (const auto* names = std::get_if<MarkNames>(&message)) {
    names_.resize(kMaxMarkNames);
    for (const auto& [id, name] : names->names) names_[id] = name;
  } else if (const auto* facts = std::get_if<MarkFacts>(&message)) {
    for (const auto& [key, value] : facts->facts) SetFact(key, value);
  } else if (const auto* answer = std::get_if<MarkAnswer>(&message)) {
    TakeAnswer(*answer);
  }
  return std::holds_alternative<MarkBye>(message) ? State::kEnded : State::kOpen;
}

void MarkProcess::SetFact(const std::string& key, const std::string& value) {
  if (source_.facts.size() < kMostFacts || source_.facts.contains(key)) source_.facts[key] = value;
}

// Only an answer to the newest command is used.
void MarkProcess::TakeAnswer(const MarkAnswer& answer) {
  if (answer.id == 0 || answer.id != asked_id_ || asked_.empty()) return;
  const std::string outcome =
      answer.refused == 0 ? std::string("done") : Format("refused: {}", answer.detail);
  SetFact(std::exchange(asked_, ""), Format("{} ({})", outcome, argument_));
}

Status MarkProcess::AddRing(Passed& passed) {
  if (passed.empty()) return Invalid("no ring was passed");
  if (rings_.size() >= kMostRings) return Invalid(Format("more than {} rings", kMostRings));
  Result<MarkRingReader> reader = MarkRingReader::Map(passed.front());
  if (!reader) return reader.error();
  passed.erase(passed.begin());  // closing a memfd never waits
  const bool continued = reader->continued();
  const auto thread = static_cast<std::int32_t>(rings_.size());
  rings_.push_back(std::make_unique<Ring>(
      Ring{std::move(reader).value(), StepFold(continued), source_.pid, thread, offset_.Read()}));
  return {};
}

void MarkProcess::TakeMark(const Mark& mark, Ring& ring, RankRecord& rank) {
  if (mark.after_loss) ring.fold.Cut();
  switch (mark.kind) {
    case MarkKind::kStep:
      if (const auto step = ring.fold.End(mark, ring.clock_base)) {
        ring.held.Add(*step, mark.start_ns, AddTo(rank, ring));
      }
      return;
    case MarkKind::kPhase:
      ring.fold.AddPhase(mark);
      return;
    case MarkKind::kAnnotation:
      return TakeAnnotation(mark, ring, rank);
    case MarkKind::kMetric:
      return TakeMetric(mark, ring);
    case MarkKind::kGpuTime:
      return ring.held.AddGpuTime(mark);
  }
  ++source_.refused;
}

void MarkProcess::TakeAnnotation(const Mark& mark, Ring& ring, RankRecord& rank) {
  const auto start = WallTime(mark, ring.clock_base);
  if (!start || mark.name >= kMaxMarkNames) {
    ++source_.refused;
    return;
  }
  if (mark.name < names_.size() && names_[mark.name] == kEvaluation) {
    ring.fold.AddEvaluation(mark.duration);
  }
  annotations_[{mark.name, SpanBinOf(mark.duration.count())}].Add(*start, mark.duration);
  if (!rank.spans().Wanted()) return;
  if (spans_.size() >= Intake::kMostWindowSpans) return rank.spans().Lose(1);
  spans_.push_back({mark.name,
                    {mark.start_ns, mark.duration.count(), start->time_since_epoch().count(),
                     source_.pid, ring.thread}});
}

void MarkProcess::TakeMetric(const Mark& mark, const Ring& ring) {
  const auto at = WallTime(mark, ring.clock_base);
  const auto value = std::bit_cast<double>(mark.value);
  if (!at || !std::isfinite(value) || mark.name == 0 || mark.name >= kMaxMarkNames) {
    ++source_.refused;
    return;
  }
  auto& newest = metrics_[mark.name];
  if (!newest) newest.emplace();
  newest->Keep({*at, value});
}

void MarkProcess::ReadRings(RankRecord& rank) {
  const Duration offset = offset_.Read();
  for (const auto& ring : rings_) {
    ring->clock_base = Moved(ring->reader.clock_base(), offset - ring->offset);
    const auto take = [&](const Mark& mark) { TakeMark(mark, *ring, rank); };
    ring->reader.Read(std::ref(take));  // a copy of it would be allocated
    ring->held.EndRound(AddTo(rank, *ring));
  }
  HandOver(rank, false);
  const std::int64_t dropped_before = source_.dropped;
  Count();
  rank.spans().Lose(source_.dropped - dropped_before);
}

// A name's message may come later than its marks.
void MarkProcess::HandOver(RankRecord& rank, bool all) {
  names_.resize(kMaxMarkNames);
  std::erase_if(annotations_, [&](const auto& entry) {
    const std::uint16_t id = entry.first.first;
    const std::string& name = names_[id];
    const bool known = id == 0 || !name.empty();
    if (known || all) rank.AddAnnotation(name, entry.second);
    return known || all;
  });
  if (!rank.spans().open()) spans_.clear();
  std::erase_if(spans_, [&](const NamedSpan& each) {
    const std::string& name = names_[each.name];
    const bool known = each.name == 0 || !name.empty();
    if (known || all) rank.spans().AddSpan(name, each.span);
    return known || all;
  });
  for (auto& [id, newest] : metrics_) {
    const std::string& name = names_[id];
    if (!newest || name.empty()) continue;
    if (!rank.SetMetric(name, *newest)) ++source_.refused;
    newest.reset();
  }
}

void MarkProcess::Count() {
  source_.dropped = 0;
  source_.cut = 0;
  for (const auto& ring : rings_) {
    source_.dropped += static_cast<std::int64_t>(ring->reader.dropped());
    source_.cut += ring->fold.lost();
  }
}

void MarkProcess::Detach(RankRecord& rank) {
  ReadRings(rank);
  HandOver(rank, true);
  for (const auto& ring : rings_) {
    ring->held.ReleaseAll(AddTo(rank, *ring));
    rank.RingEnded(ring.get());
  }
  rank.ProcessEnded(source_);
}

void MarkProcess::Answer(bool refused, const std::string& detail) {
  SendPacket(socket_, EncodeMarkMessage(
                          MarkAnswer{0, refused ? std::uint16_t{1} : std::uint16_t{0}, detail}));
}

bool MarkProcess::Ask(const std::string& command, const std::string& argument) {
  const MarkCommand message{asked_id_ + 1, command, argument};
  if (!SendPacket(socket_, EncodeMarkMessage(message))) return false;
  asked_id_ = message.id;
  asked_ = command;
  argument_ = argument;
  for (const auto& ring : rings_) ring->reader.Call();
  return true;
}

std::size_t MarkProcess::ring_bytes() const {
  std::size_t bytes = 0;
  for (const auto& ring : rings_) bytes += ring->reader.bytes();
  return bytes;
}

}  // namespace stepscope
