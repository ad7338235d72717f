// How a connection answers each of its requests; connection.cpp reads, writes and closes.

#include "core/base/log.h"
#include "core/base/random.h"
#include "core/base/text.h"
#include "server/edge/connection.h"

namespace stepscope {
namespace {

constexpr std::string_view kContinue = "HTTP/1.1 100 Continue\r\n\r\n";
constexpr std::size_t kSmallAnswer = 16 * 1024;  // is sent whatever the budget says

}  // namespace

// The first byte of a request is here.
void EdgeConnection::Begin() {
  Request& request = exchange_.request();
  request.peer = peer_;
  request.secure = transport_->secure();
  const bool named = !certificate_.empty() && !transport_->certificate_ended();
  request.certificate = named ? certificate_ : "";
  request.request_id = ToHex(RandomBytes(8));
  Enter(ConnectionState::kHead);
}

std::size_t EdgeConnection::ConsumeHead(std::string_view bytes) {
  std::size_t consumed = 0;
  const Progress progress = exchange_.FeedHead(bytes, consumed);
  if (progress == Progress::kMore) return consumed;
  if (progress == Progress::kFault) {
    Fault(exchange_.refusal().code, exchange_.refusal().detail);
  } else {
    core_.counters.requests++;
    Judge(core_.handlers.check_head(exchange_.request()));
  }
  return consumed;
}

void EdgeConnection::Judge(HeadVerdict verdict) {
  lane_ = verdict.lane;
  at_once_ = verdict.at_once;
  const bool says = verdict.answer_within > Duration::zero();
  answer_within_ = says ? verdict.answer_within : core_.options.answer_within;
  switch (verdict.kind) {
    case HeadVerdict::kRefuse:
      core_.counters.refused++;
      return AnswerHere(std::move(verdict.refusal), false);
    case HeadVerdict::kAsk:
      return Submit(true);
    case HeadVerdict::kPass:
      whose_ = std::move(verdict.whose);
      known_ = known_ || exchange_.request().caller != nullptr;
      const Progress body = exchange_.StartBody(verdict.most_body, verdict.to_file);
      if (body == Progress::kMore) {
        if (exchange_.expects_continue()) out_ += kContinue;
        body_began_ = core_.now;
        Enter(ConnectionState::kBody);
      }
      return Proceed(body);
  }
}

std::size_t EdgeConnection::ConsumeBody(std::string_view bytes) {
  std::size_t consumed = 0;
  const Progress progress = exchange_.FeedBody(bytes, consumed);
  if (progress == Progress::kMore) {
    SetDeadline();
    if (exchange_.HasPart()) WritePart();
  }
  Proceed(progress);
  return consumed;
}

void EdgeConnection::Proceed(Progress body) {
  if (body == Progress::kFault) Fault(exchange_.refusal().code, exchange_.refusal().detail);
  if (body == Progress::kDone) Submit(false);
}

void EdgeConnection::Submit(bool ask) {
  Task task{.connection = id_,
            .ticket = ++ticket_,
            .ask = ask,
            .lane = lane_,
            .request = {},
            .body = {},
            .form = exchange_.Form()};
  if (!ask) task.body = exchange_.TakeHold();
  task.request = exchange_.Take();
  if (!AnsweredAtOnce(task) && !core_.workers.Add(task)) {
    return Fault("busy", "too many requests wait to be answered");
  }
  Enter(ask ? ConnectionState::kAsking : ConnectionState::kAnswering);
}

// Nothing more is read until the part is written, so that memory has a bound.
void EdgeConnection::WritePart() {
  Task task{.connection = id_,
            .ticket = ++ticket_,
            .ask = false,
            .lane = lane_,
            .request = {},
            .body = {},
            .form = {},
            .part = exchange_.TakePart(),
            .file = exchange_.file(),
            .whose = whose_};
  if (!core_.workers.Add(task)) return Fault("busy", "too many requests wait to be answered");
  writing_part_ = true;
  Enter(ConnectionState::kBody);
}

void EdgeConnection::TakeWritten(Result<std::shared_ptr<BodyFile>> file) {
  writing_part_ = false;
  if (!file) return Fault("busy", file.error().message);
  exchange_.Written(std::move(*file));
  Enter(ConnectionState::kBody);
}

// A few in each turn of the loop: with more, workers are awake anyway, and share them.
bool EdgeConnection::AnsweredAtOnce(Task& task) {
  if (task.ask || !at_once_ || core_.at_once_left <= 0) return false;
  --core_.at_once_left;
  return core_.workers.Answer(task, MayWait::kNo);
}

void EdgeConnection::Take(Done done) {
  if (closed_ || done.ticket != ticket_) return;  // the answer came too late
  if (done.written) {
    TakeWritten(std::move(*done.written));
  } else if (!done.ask) {
    ++ticket_;  // another reply to the same request comes too late
    Send(std::move(done.answer), done.close);
  } else if (done.verdict.kind == HeadVerdict::kAsk) {
    LogError("a question about a head was answered with a question");
    Fault("internal", "the service failed; its log names this request");
  } else {
    exchange_.request() = std::move(done.request);
    Judge(std::move(done.verdict));
  }
  Run();
}

void EdgeConnection::Expire() {
  core_.counters.timeouts[static_cast<std::size_t>(state_)]++;
  if (writing_part_) {
    writing_part_ = false;
    ++ticket_;
    Fault("busy", "to keep the body took too long");
  } else if (state_ == ConnectionState::kHead || state_ == ConnectionState::kBody) {
    Fault("timeout", "the request did not arrive in time");
  } else if (state_ == ConnectionState::kAsking || state_ == ConnectionState::kAnswering) {
    ++ticket_;
    Fault("busy", "the answer took too long");
  } else {
    if (state_ == ConnectionState::kIdle) transport_->EndWriting();
    Close();
  }
  Run();
}

// Answers bytes that could not be read, which ends the connection, or a request at a bad time.
void EdgeConnection::Fault(std::string_view code, std::string detail) {
  const bool busy = code == "busy";
  (busy ? core_.counters.busy : core_.counters.refused)++;
  Reply reply = core_.handlers.fault(exchange_.request(), std::string(code), std::move(detail));
  if (busy) reply.headers.emplace_back("Retry-After", "1");
  AnswerHere(std::move(reply), !busy);
}

void EdgeConnection::AnswerHere(Reply reply, bool close) {
  AnswerForm form = exchange_.Form();
  form.close = form.close || close || core_.stopping;
  std::string answer = WriteAnswer(std::move(reply), form);
  Send(std::move(answer), form.close);
}

void EdgeConnection::Send(std::string answer, bool close) {
  if (!answer_.Set(answer.size()) && answer.size() > kSmallAnswer) {
    answer_.Set(0);
    return Fault("busy", "too many large answers wait to be read");
  }
  out_ = out_.empty() ? std::move(answer) : out_ + answer;
  close_ = close;
  progress_ = core_.now;
  Enter(ConnectionState::kWriting);
}

// Answers plain HTTP where TLS is spoken, once.
void EdgeConnection::AnswerForeign() {
  transport_ = std::make_unique<PlainTransport>(socket_.get());
  AnswerHere({.status = 400,
              .content_type = "text/plain",
              .body = "This port speaks TLS: use https://\n",
              .headers = {}},
             true);
}

}  // namespace stepscope
