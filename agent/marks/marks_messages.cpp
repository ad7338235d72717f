// The messages of a process, and those to it.

#include <sys/socket.h>

#include <utility>

#include "agent/marks/marks_process.h"
#include "core/base/text.h"

namespace stepscope {
namespace {

constexpr int kMessagesAtOnce = 512;
constexpr std::size_t kMostMessages = 20'000;
constexpr std::size_t kMostRingsOfProcess = 64;
constexpr std::size_t kMostFacts = 64;
constexpr std::size_t kFactBytes = 128;  // a fact takes them beside its text

}  // namespace

// Ends the connection now, also while the closer still waits for another descriptor.
MarkProcess::~MarkProcess() {
  shutdown(socket_.get(), SHUT_RDWR);
  closer_.Close(user_, std::move(socket_));
  for (RankTrace& trace : traces_) closer_.Close(user_, std::move(trace.file));
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
    TakeNames(*names);
  } else if (const auto* facts = std::get_if<MarkFacts>(&message)) {
    for (const auto& [key, value] : facts->facts) SetFact(key, value);
  } else if (const auto* answer = std::get_if<MarkAnswer>(&message)) {
    TakeAnswer(*answer);
  } else if (const auto* trace = std::get_if<MarkTrace>(&message)) {
    TakeTrace(*trace, passed);
  }
  return std::holds_alternative<MarkBye>(message) ? State::kEnded : State::kOpen;
}

// A file is taken unread: to read, or even to look at, what a process has passed may take for ever.
void MarkProcess::TakeTrace(const MarkTrace& trace, Passed& passed) {
  if (passed.empty()) {
    ++source_.refused;
    return;
  }
  if (traces_.size() >= Intake::kMostTraces) {
    ++source_.refused;
    return SetFact("window",
                   Format("dropped: {} traces wait for the agent, which are the most; the "
                          "one of step {} is lost",
                          traces_.size(), trace.first_step));
  }
  // Whoever records without having been asked says so.
  if (trace.window == 0 && trace.by.empty()) {
    ++source_.refused;
    return SetFact("window", "dropped: a trace that nobody asked for");
  }
  traces_.push_back({source_.hello.rank, trace, std::move(passed.front()), user_});
}

void MarkProcess::TakeNames(const MarkNames& names) {
  for (const auto& [id, name] : names.names) {
    if (id >= names_.size()) {
      bytes_ += (id + 1 - names_.size()) * sizeof(std::string);
      names_.resize(id + 1);
    }
    bytes_ += name.size();
    names_[id] = name;
  }
}

const std::string& MarkProcess::NameOf(std::uint16_t id) const {
  return id < names_.size() ? names_[id] : no_name_;
}

HeardProcess MarkProcess::Heard() const {
  const auto type = source_.facts.find("device_type");
  return {rank(), source_.pid, source_.hello.devices,
          type != source_.facts.end() && type->second == "cpu"};
}

void MarkProcess::SetFact(const std::string& key, const std::string& value) {
  const auto known = source_.facts.find(key);
  if (known == source_.facts.end()) {
    if (source_.facts.size() >= kMostFacts) return;
    bytes_ += kFactBytes + key.size() + value.size();
    source_.facts[key] = value;
    return;
  }
  bytes_ = bytes_ + value.size() - known->second.size();
  known->second = value;
}

// Only an answer to the newest command is used.
void MarkProcess::TakeAnswer(const MarkAnswer& answer) {
  if (answer.id == 0 || answer.id != asked_id_ || asked_.empty()) return;
  const std::string outcome =
      answer.refused == 0 ? std::string("done") : Format("refused: {}", answer.detail);
  outcome_ = answer.refused == 0 ? answer.detail : outcome;
  SetFact(std::exchange(asked_, ""), Format("{} ({})", outcome, argument_));
}

Status MarkProcess::AddRing(Passed& passed) {
  if (passed.empty()) return Invalid("no ring was passed");
  if (rings_.size() >= kMostRingsOfProcess)
    return Invalid(Format("more than {} rings", kMostRingsOfProcess));
  Result<MarkRingReader> reader = MarkRingReader::Map(passed.front());
  if (!reader) return reader.error();
  const bool continued = reader->continued();
  const auto thread = static_cast<std::int32_t>(rings_.size());
  rings_.push_back(std::make_unique<Ring>(
      Ring{std::move(reader).value(), StepFold(continued), source_.pid, thread, offset_.Read()}));
  return {};
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
  outcome_.clear();
  argument_ = argument;
  for (const auto& ring : rings_) ring->reader.Call();
  return true;
}

}  // namespace stepscope
