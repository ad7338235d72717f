// The only file of the server that knows cpp-httplib. The library parses a request that our stream
// feeds it within bounds, reads its body, and writes the answer; sockets, threads, routes and the
// answer itself are ours. It sees every request under the path "/": none of its patterns ever runs
// on text from outside.

#include "server/edge/http_core.h"

#include <httplib.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <charconv>
#include <vector>

#include "core/base/log.h"
#include "core/base/random.h"

namespace stepscope {
namespace {

constexpr std::size_t kMostHead = 16 * 1024;
constexpr std::size_t kMostHeaders = 64;
constexpr std::size_t kBodyBytesPerSecond = 64 * 1024;
constexpr std::array<std::string_view, 4> kShadows = {"remote_addr", "remote_port", "local_addr",
                                                      "local_port"};  // the library's own

SteadyTime Now() {
  return std::chrono::steady_clock::now();
}

// What the library reads from and writes to. Gives out at most `allowance` bytes until the
// deadline; answers are collected and sent at once.
class BoundedStream : public httplib::Stream {
 public:
  explicit BoundedStream(Socket& socket) : socket_(socket) {}

  void Allow(std::size_t bytes, SteadyTime deadline) {
    allowance_ = bytes;
    deadline_ = deadline;
    started_ = false;
  }
  bool exhausted() const { return exhausted_; }
  bool bounded() const { return exhausted_ || (started_ && late()); }
  bool late() const { return Now() >= deadline_; }
  bool buffered() const { return from_ < to_; }

  bool Flush(SteadyTime deadline) {
    const bool sent = socket_.Write(out_, deadline);
    out_.clear();
    return sent;
  }

  ssize_t read(char* to, std::size_t size) override {
    if (!out_.empty()) Flush(deadline_);  // "100 Continue"
    exhausted_ = exhausted_ || allowance_ == 0;
    if (exhausted_ || size == 0 || (!buffered() && !Fill())) return -1;
    const std::size_t count = std::min({size, allowance_, to_ - from_});
    std::copy_n(buffer_.data() + from_, count, to);
    from_ += count;
    allowance_ -= count;
    started_ = true;
    return static_cast<ssize_t>(count);
  }
  ssize_t write(const char* from, std::size_t size) override {
    out_.append(from, size);
    return static_cast<ssize_t>(size);
  }
  bool is_readable() const override { return true; }
  bool is_writable() const override { return true; }
  bool wait_readable() const { return true; }  // these three are virtual in newer versions
  bool wait_writable() const { return true; }
  time_t duration() const { return 0; }
  void get_remote_ip_and_port(std::string&, int&) const override {}
  void get_local_ip_and_port(std::string&, int&) const override {}
  socket_t socket() const override { return socket_.descriptor(); }

 private:
  bool Fill() {
    from_ = 0;
    to_ = socket_.Read(buffer_.data(), buffer_.size(), deadline_);
    return to_ > 0;
  }

  Socket& socket_;
  std::array<char, 16 * 1024> buffer_;
  std::size_t from_ = 0, to_ = 0, allowance_ = 0;
  bool exhausted_ = false, started_ = false;
  SteadyTime deadline_{};
  std::string out_;
};

// Our form of a head. A header that stands twice becomes one with both values, so that no check
// can be passed by the one and used by the other.
Request ToRequest(const httplib::Request& raw, const std::string& peer) {
  Request request{.method = raw.method,
                  .path = raw.target,
                  .query = "",
                  .headers = {},
                  .body = "",
                  .peer = peer,
                  .request_id = ToHex(RandomBytes(8))};
  const std::size_t mark = request.path.find('?');
  if (mark != std::string::npos) {
    request.query = request.path.substr(mark + 1);
    request.path.resize(mark);
  }
  for (const auto& [raw_name, value] : raw.headers) {
    std::string name = raw_name;
    std::ranges::transform(name, name.begin(),
                           [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
    if (std::ranges::count(kShadows, name) > 0) continue;
    auto [found, added] = request.headers.emplace(name, value);
    if (!added) found->second += ", " + value;
  }
  return request;
}

// Content-Length; the head was checked, or is refused.
std::size_t BodyBytes(const Request& head) {
  const std::string_view length = head.Header("content-length");
  std::size_t bytes = 0;
  std::from_chars(length.data(), length.data() + length.size(), bytes);
  return bytes;
}

void Write(Reply reply, httplib::Response& to) {
  to.status = reply.status;
  for (const auto& [name, value] : reply.headers) to.set_header(name, value);
  if (!reply.body.empty()) to.set_header("Content-Type", reply.content_type);
  to.body = std::move(reply.body);
}

}  // namespace

// The library for one connection.
class HttpCore::Library : public httplib::Server {
 public:
  Library(const EdgeHandlers& handlers, Socket& socket, const HttpOptions& options)
      : handlers_(handlers), stream_(socket), peer_(socket.Peer()), options_(options) {
    set_keep_alive_timeout(
        std::chrono::duration_cast<std::chrono::seconds>(options.idle_within).count());
    set_keep_alive_max_count(static_cast<std::size_t>(options.requests_per_connection));
    set_payload_max_length(std::numeric_limits<std::uint32_t>::max());  // the front has the limits
    set_pre_routing_handler([this](const auto&, auto& response) { return BeforeBody(response); });
    Post("/", [this](const httplib::Request& raw, httplib::Response& response) {
      request_.body = raw.body;
      Write(handlers_.answer(request_), response);
      answered_ = true;
    });
    const HandlerWithResponse at_fault = [this](const auto&, httplib::Response& response) {
      return AtFault(response);
    };
    set_error_handler(at_fault);
    set_exception_handler([](const auto&, httplib::Response& response, std::exception_ptr) {
      response.status = 500;
    });
  }

  // One request and its answer; says whether the connection may carry another.
  bool Exchange(bool last) {
    request_ = Request{};
    request_.request_id = ToHex(RandomBytes(8));
    request_.peer = peer_;
    answered_ = close_ = false;
    stream_.Allow(kMostHead, Now() + options_.head_within);
    bool closed = false;
    const bool well = Process(stream_, last, closed);
    if (!well && !answered_ && stream_.bounded()) AnswerUnread();
    const bool sent = stream_.Flush(Now() + options_.write_within);
    return well && sent && !closed && !close_ && !last;
  }

  bool buffered() const { return stream_.buffered(); }

 private:
  // The signature of process_request differs between versions of the library.
  template <typename S>
  bool Process(S& stream, bool last, bool& closed) {
    const std::function<void(httplib::Request&)> setup = [this](httplib::Request& raw) {
      AfterHead(raw);
    };
    if constexpr (requires(Library & core) {
                    core.Library::process_request(stream, last, closed, setup);
                  }) {
      return this->process_request(stream, last, closed, setup);
    } else {
      return this->process_request(stream, peer_, 0, std::string(), 0, last, closed, setup);
    }
  }

  // Takes the head out of the library's hands, and leaves there what it needs for the body.
  void AfterHead(httplib::Request& raw) {
    const std::size_t headers = raw.headers.size();
    request_ = ToRequest(raw, peer_);
    verdict_ = CheckHead(headers);
    refused_ = verdict_.kind == HeadVerdict::kRefuse;
    const std::size_t bytes = refused_ ? 0 : BodyBytes(request_);
    const bool body = BodyBytes(request_) > 0 || request_.headers.contains("transfer-encoding");
    close_ = refused_ && body;
    raw.path = "/";
    raw.ranges.clear();
    raw.headers.erase("Accept-Encoding");
    if (close_) {
      raw.headers.erase("Connection");
      raw.headers.emplace("Connection", "close");
    }
    if (!raw.has_header("Content-Length")) raw.headers.emplace("Content-Length", "0");
    stream_.Allow(bytes, Now() + options_.body_within + 1s * (bytes / kBodyBytesPerSecond));
  }

  HeadVerdict CheckHead(std::size_t headers) {
    if (headers > kMostHeaders + kShadows.size()) {
      return {
          .kind = HeadVerdict::kRefuse,
          .refusal = handlers_.fault(request_, "head-too-large", "the head has too many lines")};
    }
    HeadVerdict verdict = handlers_.check_head(request_);
    return verdict.kind == HeadVerdict::kAsk ? handlers_.ask(request_) : verdict;
  }

  HandlerResponse BeforeBody(httplib::Response& response) {
    if (!refused_ && BodyBytes(request_) > 0) return HandlerResponse::Unhandled;
    Write(refused_ ? std::move(verdict_.refusal) : handlers_.answer(request_), response);
    answered_ = true;
    return HandlerResponse::Handled;
  }

  // The library says nothing when not even the first line comes to its end.
  void AnswerUnread() {
    const auto [code, detail] = Fault(400);
    const Reply reply = handlers_.fault(request_, code, detail);
    std::string text = Format("HTTP/1.1 {} {}\r\n", reply.status, code);
    for (const auto& [name, value] : reply.headers) text += Format("{}: {}\r\n", name, value);
    text += Format("Content-Type: {}\r\nContent-Length: {}\r\nConnection: close\r\n\r\n",
                   reply.content_type, reply.body.size());
    stream_.write(text.data(), text.size());
    stream_.write(reply.body.data(), reply.body.size());
  }

  // What the library could not read as a request.
  HandlerResponse AtFault(httplib::Response& response) {
    if (answered_) return HandlerResponse::Unhandled;
    answered_ = close_ = true;
    const auto [code, detail] = Fault(response.status);
    Write(handlers_.fault(request_, code, detail), response);
    return HandlerResponse::Handled;
  }

  std::pair<std::string, std::string> Fault(int status) const {
    if (status == 500) return {"internal", "the service failed; its log names this request"};
    if (status == 414) return {"target-too-long", "the request target is too long"};
    if (status == 416) return {"range-not-satisfiable", "ranges are not served"};
    if (stream_.late()) return {"timeout", "the request did not arrive in time"};
    if (stream_.exhausted()) return {"head-too-large", "the head of the request is too large"};
    return {"bad-request", "this cannot be read as an HTTP request"};
  }

  const EdgeHandlers& handlers_;
  HeadVerdict verdict_;
  BoundedStream stream_;
  const std::string peer_;
  const HttpOptions& options_;
  Request request_;
  bool refused_ = false, answered_ = false, close_ = false;
};

HttpCore::HttpCore(const EdgeHandlers& handlers, Socket& socket, const HttpOptions& options)
    : library_(std::make_unique<Library>(handlers, socket, options)) {}

HttpCore::~HttpCore() = default;

bool HttpCore::Exchange(bool last) {
  return library_->Exchange(last);
}

bool HttpCore::buffered() const {
  return library_->buffered();
}

}  // namespace stepscope
