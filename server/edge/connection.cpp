// How a connection moves bytes and keeps its deadlines. connection_requests.cpp answers requests.

#include "server/edge/connection.h"

#include <algorithm>

namespace stepscope {
namespace {

constexpr int kMostSteps = 16;  // steps of one connection before others have a turn
constexpr std::size_t kMostDropped = 8 * 1024 * 1024;  // twice the largest honest body
constexpr std::size_t kAnswerBytesPerSecond = 64 * 1024;

}  // namespace

EdgeConnection::EdgeConnection(EdgeCore& core, std::uint64_t id, Descriptor socket,
                               std::unique_ptr<Transport> transport, std::string peer)
    : core_(core),
      id_(id),
      socket_(std::move(socket)),
      transport_(std::move(transport)),
      peer_(std::move(peer)),
      state_(transport_->secure() ? ConnectionState::kHandshake : ConnectionState::kIdle),
      exchange_(core.options, core.bodies),
      answer_(core.answers) {
  core_.counters.connections[static_cast<std::size_t>(state_)]++;
  entered_ = core_.now;
  SetDeadline();
  UpdateShedOrder();
}

EdgeConnection::~EdgeConnection() {
  Close();
  if (SocketCloser* const closer = transport_->closer()) closer->Close(std::move(socket_));
}

void EdgeConnection::Close() {
  if (closed_) return;
  closed_ = true;
  core_.counters.connections[static_cast<std::size_t>(state_)]--;
  core_.deadlines.Move(id_, deadline_, std::nullopt);
  core_.idle.Move(id_, idle_, std::nullopt);
  core_.silent.Move(id_, silent_, std::nullopt);
  core_.slow.Move(id_, slow_, std::nullopt);
}

void EdgeConnection::Enter(ConnectionState state) {
  core_.counters.connections[static_cast<std::size_t>(state_)]--;
  core_.counters.connections[static_cast<std::size_t>(state)]++;
  state_ = state;
  entered_ = core_.now;
  SetDeadline();
  UpdateShedOrder();
}

std::optional<SteadyTime> EdgeConnection::Deadline() {
  const EdgeOptions& options = core_.options;
  switch (state_) {
    case ConnectionState::kHandshake:
      return entered_ + options.handshake_within;
    case ConnectionState::kIdle:
      return std::nullopt;
    case ConnectionState::kHead:
      return entered_ + options.head_within;
    case ConnectionState::kAsking:
      return entered_ + options.answer_within;
    case ConnectionState::kAnswering:
      return entered_ + answer_within_;
    case ConnectionState::kBody:
      if (writing_part_) return entered_ + options.answer_within;
      return exchange_.BodyDeadline(body_began_);
    case ConnectionState::kWriting:
      return std::min(progress_ + options.write_within,
                      entered_ + options.write_within +
                          1s * static_cast<int>(out_.size() / kAnswerBytesPerSecond));
    case ConnectionState::kDraining:
      return entered_ + options.drain_within;
  }
  return std::nullopt;
}

void EdgeConnection::SetDeadline() {
  const bool idle = state_ == ConnectionState::kIdle;
  core_.deadlines.Move(id_, deadline_, Deadline());
  core_.idle.Move(id_, idle_,
                  idle ? std::optional(entered_ + core_.options.idle_within) : std::nullopt);
}

// Enters the lists of connections that may be ended for others, but not while a worker has the
// request: that is soon over.
void EdgeConnection::UpdateShedOrder() {
  const bool idle = state_ == ConnectionState::kIdle;
  const bool served = state_ == ConnectionState::kAsking || state_ == ConnectionState::kAnswering;
  const std::optional<SteadyTime> since = known_ ? std::nullopt : std::optional(entered_);
  core_.silent.Move(id_, silent_, idle ? since : std::nullopt);
  core_.slow.Move(id_, slow_, idle || served ? std::nullopt : since);
}

bool EdgeConnection::reads() const {
  return !writing_part_ && state_ != ConnectionState::kAsking &&
         state_ != ConnectionState::kAnswering && state_ != ConnectionState::kWriting;
}

bool EdgeConnection::wants_read() const {
  return (reads() && read_io_ != Io::kWantWrite) || (!out_.empty() && write_io_ == Io::kWantRead);
}

bool EdgeConnection::wants_write() const {
  return (reads() && read_io_ == Io::kWantWrite) || (!out_.empty() && write_io_ == Io::kWantWrite);
}

void EdgeConnection::Run() {
  ready_ = false;
  for (int steps = 0; steps < kMostSteps; ++steps) {
    if (!Step()) return core_.stopping ? EndIdle() : void();
  }
  ready_ = true;
}

// Once the edge stops: requests sent before are here by now, for the socket was read to its end.
void EdgeConnection::EndIdle() {
  const bool incomplete = state_ == ConnectionState::kHandshake ||
                          state_ == ConnectionState::kIdle || state_ == ConnectionState::kHead;
  if (incomplete) Shed();
}

bool EdgeConnection::Step() {
  if (closed_) return false;
  if (state_ == ConnectionState::kHandshake) return Handshake();
  if (!out_.empty() && Flush()) return true;
  return !closed_ && reads() && Read();
}

bool EdgeConnection::Handshake() {
  read_io_ = transport_->Handshake();
  if (read_io_ == Io::kWantRead || read_io_ == Io::kWantWrite) return false;
  if (read_io_ == Io::kDone) {
    core_.counters.handshakes++;
    certificate_ = transport_->certificate();
    Enter(ConnectionState::kIdle);
    return true;
  }
  core_.counters.handshake_failures++;
  if (read_io_ != Io::kForeign) return Close(), false;
  AnswerForeign();
  return true;
}

bool EdgeConnection::Read() {
  if (!pending_.empty()) {
    pending_.erase(0, Consume(pending_));
    if (pending_.empty()) std::string().swap(pending_);  // an idle connection holds no memory
    return true;
  }
  const Moved got = transport_->Read(core_.buffer);
  read_io_ = got.io;
  if (got.io == Io::kDone) {
    const std::string_view bytes(core_.buffer.data(), got.bytes);
    const std::size_t consumed = Consume(bytes);
    if (consumed < bytes.size()) pending_ = bytes.substr(consumed);
    return true;
  }
  if (got.io == Io::kEnd) return EndOfInput(), true;
  if (got.io == Io::kBroken) Close();
  return false;
}

void EdgeConnection::EndOfInput() {
  ended_ = true;
  if (state_ == ConnectionState::kHead || state_ == ConnectionState::kBody) {
    return Fault("bad-request", "the request ends before it is complete");
  }
  transport_->EndWriting();
  Close();
}

bool EdgeConnection::Flush() {
  const Moved put = transport_->Write(std::string_view(out_).substr(sent_));
  write_io_ = put.io;
  if (put.io == Io::kBroken || put.io == Io::kEnd) return Close(), false;
  if (put.io != Io::kDone) return false;
  sent_ += put.bytes;
  progress_ = core_.now;
  if (sent_ < out_.size()) return SetDeadline(), true;
  std::string().swap(out_);
  sent_ = 0;
  answer_.Set(0);
  if (state_ == ConnectionState::kWriting) AfterAnswer();
  return true;
}

void EdgeConnection::AfterAnswer() {
  exchange_ = Exchange(core_.options, core_.bodies);
  if (!close_) return Enter(ConnectionState::kIdle);
  transport_->EndWriting();
  // A reset while the client still sends would take the answer from it.
  return ended_ ? Close() : Enter(ConnectionState::kDraining);
}

std::size_t EdgeConnection::Consume(std::string_view bytes) {
  if (state_ == ConnectionState::kIdle) Begin();
  if (state_ == ConnectionState::kHead) return ConsumeHead(bytes);
  if (state_ == ConnectionState::kBody) return ConsumeBody(bytes);
  dropped_bytes_ += bytes.size();
  if (dropped_bytes_ > kMostDropped) Close();
  return bytes.size();
}

void EdgeConnection::Shed() {
  if (closed_) return;
  const bool cut = state_ == ConnectionState::kHandshake || !out_.empty();
  if (!cut) transport_->EndWriting();
  Close();
}

}  // namespace stepscope
