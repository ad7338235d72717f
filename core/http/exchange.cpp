// The one file of this layer that includes cpp-httplib. The library speaks HTTP over a stream of
// ours: its own sockets know time-outs for each recv only, and its parser reads a header line of
// any length.

#include "core/http/exchange.h"

#include <httplib.h>

#include <algorithm>
#include <array>
#include <exception>
#include <utility>

#include "core/base/text.h"

namespace stepscope {
namespace {

constexpr std::size_t kHeadBytes = 16 * 1024;

class BoundedStream : public httplib::Stream {
 public:
  BoundedStream(HttpConnection& connection, const WaitLimit& limit, std::size_t at_most)
      : connection_(connection), limit_(limit), left_(at_most) {}

  ssize_t write(const char* from, std::size_t size) override {
    unsent_.append(from, size);
    return static_cast<ssize_t>(size);
  }

  ssize_t read(char* to, std::size_t size) override {
    if (begin_ == end_ && !Fill()) return failure_ ? 0 : -1;
    const std::size_t count = std::min(size, end_ - begin_);
    std::copy_n(buffer_.data() + begin_, count, to);
    begin_ += count;
    return static_cast<ssize_t>(count);
  }

  bool is_readable() const override { return true; }
  bool is_writable() const override { return true; }
  void get_remote_ip_and_port(std::string&, int&) const override {}
  void get_local_ip_and_port(std::string&, int&) const override {}
  socket_t socket() const override { return -1; }
  // Newer versions ask these too.
  bool wait_readable() const { return true; }
  bool wait_writable() const { return true; }
  time_t duration() const { return 0; }

  // Why reading ended; ok while it has not, or at the end of the connection.
  const Status& failure() const { return failure_; }
  bool answered() const { return answered_; }
  bool at_end() const { return at_end_; }
  bool drained() const { return begin_ == end_; }
  // What TLS begins with: a handshake record or an alert, of version 3.
  bool is_tls() const { return (first_[0] == 0x15 || first_[0] == 0x16) && first_[1] == 0x03; }

 private:
  // The request goes out in one piece when the library first asks for the answer.
  bool Fill() {
    if (!unsent_.empty()) {
      failure_ = connection_.Write(std::exchange(unsent_, {}), limit_);
      if (!failure_) return false;
    }
    if (left_ == 0) {
      failure_ = Unavailable("the answer is larger than allowed");
      return false;
    }
    auto count = connection_.Read(buffer_.data(), std::min(buffer_.size(), left_), limit_);
    if (!count) return failure_ = count.error(), false;
    begin_ = 0;
    end_ = *count;
    left_ -= *count;
    if (!answered_) std::copy_n(buffer_.begin(), first_.size(), first_.begin());
    answered_ = answered_ || *count > 0;
    at_end_ = *count == 0;
    return *count > 0;
  }

  HttpConnection& connection_;
  const WaitLimit limit_;
  std::size_t left_;
  std::string unsent_;
  std::array<char, 4096> buffer_{};
  std::array<char, 2> first_{};
  std::size_t begin_ = 0, end_ = 0;
  Status failure_;
  bool answered_ = false, at_end_ = false;
};

// Reaches the part of the library's client that needs no socket of the library.
class Speaker : public httplib::ClientImpl {
 public:
  Speaker(const std::string& host, int port) : ClientImpl(host, port) {
    set_url_encode(false);
    set_decompress(false);
    set_keep_alive(true);
  }

  bool Speak(httplib::Stream& stream, httplib::Request& request, httplib::Response& response) {
    httplib::Error error = httplib::Error::Success;
    return process_request(stream, request, response, false, error);
  }
};

httplib::Request Prepare(const Url& url, const HttpRequest& from) {
  httplib::Request request;
  request.method = from.method;
  request.path = from.target.empty() ? url.target : from.target;
  request.body = from.body;
  request.headers.emplace("Host", url.Authority());
  request.headers.emplace("User-Agent", "stepscope");
  request.headers.emplace("Accept-Encoding", "identity");
  for (const auto& [name, value] : from.headers) request.headers.emplace(name, value);
  return request;
}

bool SaysClose(const httplib::Response& response) {
  std::string value = response.get_header_value("Connection");
  std::ranges::transform(value, value.begin(), [](unsigned char c) { return std::tolower(c); });
  return value.find("close") != value.npos || response.version != "HTTP/1.1";
}

Error Failure(const BoundedStream& stream, bool too_large) {
  if (too_large) return Unavailable("the answer is larger than allowed");
  if (stream.is_tls()) return Unavailable("it speaks TLS there; is it https:// ?");
  if (!stream.failure()) return stream.failure().error();
  if (!stream.answered()) return Unavailable("the connection was closed without an answer");
  if (stream.at_end()) return Unavailable("the connection was closed in the middle of the answer");
  return Unavailable("the answer is not HTTP");
}

// Receives the body up to the limit.
class BodyTaker {
 public:
  BodyTaker(std::string& body, std::size_t at_most) : body_(body), at_most_(at_most) {}

  bool Take(const char* bytes, std::size_t size) {
    const std::size_t room = at_most_ - body_.size();
    body_.append(bytes, std::min(size, room));
    full_ = size > room;
    return !full_;
  }
  // There was more than the limit.
  bool full() const { return full_; }

 private:
  std::string& body_;
  const std::size_t at_most_;
  bool full_ = false;
};

}  // namespace

Result<Exchanged> Exchange(HttpConnection& connection, const Url& url, const HttpRequest& from,
                           const AnswerLimit& most, const WaitLimit& limit, bool& answered) {
  BoundedStream stream(connection, limit, most.bytes + kHeadBytes);
  httplib::Request request = Prepare(url, from);
  httplib::Response response;
  Exchanged done;
  BodyTaker body(done.answer.body, most.bytes);
  request.content_receiver = [&](const char* bytes, std::size_t size, auto, auto) {
    return body.Take(bytes, size);
  };
  bool spoken = false;
  try {
    Speaker speaker(url.host, url.port);
    spoken = speaker.Speak(stream, request, response);
  } catch (const std::exception&) {
    // The library throws at some malformed answers.
  }
  answered = stream.answered();
  if (!spoken && !(body.full() && most.cut)) return Failure(stream, body.full());
  done.answer.status = response.status;
  for (auto& [name, value] : response.headers) done.answer.headers.emplace_back(name, value);
  done.reusable = spoken && !SaysClose(response) && !stream.at_end() && stream.drained();
  return done;
}

}  // namespace stepscope
