#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "core/base/descriptor.h"
#include "server/edge/deadlines.h"
#include "server/edge/exchange.h"
#include "server/edge/figures.h"
#include "server/edge/transport.h"
#include "server/edge/workers.h"

namespace stepscope {

// The state that the connections of an edge share. For the edge's thread, but for members that are
// safe from any.
struct EdgeCore {
  const EdgeOptions& options;
  const EdgeHandlers& handlers;
  const std::atomic<bool>& stopping;
  EdgeCounters& counters;
  ByteBudget& bodies;
  ByteBudget& answers;
  Workers& workers;
  SteadyTime now = {};
  int at_once_left = 0;  // requests that may be answered on this thread before others have a turn
  Deadlines deadlines = {}, idle = {};
  // Connections that never had a caller, by when they last sent something (silent) or began the
  // request they are busy with (slow).
  Deadlines silent = {}, slow = {};
  std::array<char, 16 * 1024> buffer = {};  // bytes that are being read right now
};

// A connection from its first byte to its end: request by request, one at a time. While a request
// is with the workers or its answer is not sent, nothing more is read, so that memory has a bound.
// Never blocks: wants_read and wants_write say what it waits for. For the edge's thread.
class EdgeConnection {
 public:
  EdgeConnection(EdgeCore& core, std::uint64_t id, Descriptor socket,
                 std::unique_ptr<Transport> transport, std::string peer);
  ~EdgeConnection();
  EdgeConnection(const EdgeConnection&) = delete;
  EdgeConnection& operator=(const EdgeConnection&) = delete;

  // Each of these does all that can be done at once, within a bound.
  void Run();            // the socket is ready, or `ready`, or the edge stops
  void Take(Done done);  // a worker has answered
  void Expire();         // its deadline has come
  void Shed();           // another connection needs its room
  void Close();

  int socket() const { return socket_.get(); }
  bool closed() const { return closed_; }
  bool ready() const { return ready_; }  // it could go on, but others come first
  bool wants_read() const;
  bool wants_write() const;
  bool known() const { return known_; }  // one of its requests has had a caller

 private:
  void Enter(ConnectionState state);
  std::optional<SteadyTime> Deadline();
  void SetDeadline();
  void UpdateShedOrder();
  bool reads() const;

  // Each of these says whether to go on.
  bool Step();
  bool Handshake();
  bool Read();
  bool Flush();
  void EndIdle();
  void EndOfInput();
  void AfterAnswer();

  std::size_t Consume(std::string_view bytes);
  std::size_t ConsumeHead(std::string_view bytes);
  std::size_t ConsumeBody(std::string_view bytes);
  void Begin();
  void Judge(HeadVerdict verdict);
  void Proceed(Progress body);
  void Submit(bool ask);
  bool AnsweredAtOnce(Task& task);
  void WritePart();
  void TakeWritten(Result<std::shared_ptr<BodyFile>> file);
  void Fault(std::string_view code, std::string detail);
  void AnswerHere(Reply reply, bool close);
  void Send(std::string answer, bool close);
  void AnswerForeign();

  EdgeCore& core_;
  const std::uint64_t id_;
  Descriptor socket_;
  std::unique_ptr<Transport> transport_;
  const std::string peer_;
  ConnectionState state_;
  SteadyTime entered_;                                         // when it entered its state
  SteadyTime progress_;                                        // when the client last took bytes
  std::optional<SteadyTime> deadline_, idle_, silent_, slow_;  // its entries in the core
  Exchange exchange_;
  std::string certificate_;
  std::string pending_;  // bytes read and not yet consumed
  std::string out_;
  std::size_t sent_ = 0;  // bytes of out_
  ByteBudget::Hold answer_;
  std::size_t dropped_bytes_ = 0;
  std::uint64_t ticket_ = 0;
  Lane lane_ = Lane::kAll;     // lane of the present request
  std::string whose_;          // whose share its large body counts against
  bool at_once_ = false;       // the present request may be answered here
  Duration answer_within_{};   // deadline of its answer
  SteadyTime body_began_{};    // when its body did
  bool writing_part_ = false;  // a worker writes a part of its body
  Io read_io_ = Io::kWantRead, write_io_ = Io::kDone;
  bool close_ = false;  // close after the answer
  bool ended_ = false;  // the other side sends nothing more
  bool known_ = false, ready_ = false, closed_ = false;
};

}  // namespace stepscope
