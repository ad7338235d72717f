// The only file of the server that knows cpp-httplib.

#include "server/edge/http/answer_writer.h"

#include <httplib.h>

#include <algorithm>
#include <exception>

#include "core/base/log.h"

namespace stepscope {
namespace {

constexpr std::string_view kGet = "GET / HTTP/1.1\r\n\r\n", kHead = "HEAD / HTTP/1.1\r\n\r\n";
constexpr std::string_view kFailed =
    "HTTP/1.1 500 Internal Server Error\r\nContent-Length: 0\r\nConnection: close\r\n\r\n";

// The library promises a number of requests that we do not count.
void DropKeepAlive(std::string& head) {
  const std::size_t from = head.find("\r\nKeep-Alive: ");
  if (from != head.npos) head.erase(from, head.find("\r\n", from + 2) - from);
}

constexpr std::string_view kEndOfHead = "\r\n\r\n", kEndOfLine = "\r\n";

// What the library reads from and writes to. The head is set right when it is complete: behind a
// large body that would move the body. `lines` go to its end.
class MemoryStream : public httplib::Stream {
 public:
  MemoryStream(std::string_view in, std::string_view lines) : in_(in), lines_(lines) {}
  std::string Take() { return std::move(out_); }

  ssize_t read(char* to, std::size_t size) override {
    const std::size_t count = in_.copy(to, size);
    in_.remove_prefix(count);
    return static_cast<ssize_t>(count);
  }
  ssize_t write(const char* from, std::size_t size) override {
    out_.append(from, size);
    if (!has_head_ && out_.ends_with(kEndOfHead)) {
      DropKeepAlive(out_);
      out_.insert(out_.size() - kEndOfLine.size(), lines_);
      has_head_ = true;
    }
    return static_cast<ssize_t>(size);
  }
  bool is_readable() const override { return true; }
  bool is_writable() const override { return true; }
  bool wait_readable() const { return true; }  // these three are virtual in newer versions
  bool wait_writable() const { return true; }
  time_t duration() const { return 0; }
  void get_remote_ip_and_port(std::string&, int&) const override {}
  void get_local_ip_and_port(std::string&, int&) const override {}
  socket_t socket() const override { return -1; }

 private:
  std::string_view in_;
  const std::string_view lines_;
  std::string out_;
  bool has_head_ = false;
};

}  // namespace

class AnswerWriter::Library : public httplib::Server {
 public:
  Library() {
    set_pre_routing_handler([this](const httplib::Request&, httplib::Response& response) {
      Fill(response);
      return HandlerResponse::Handled;
    });
  }

  bool Write(Reply reply, const AnswerForm& form, std::string& answer) {
    reply_ = std::move(reply);
    say_keep_ = form.say_keep && !form.close;
    MemoryStream stream(form.head_only ? kHead : kGet, reply_.lines);
    bool closed = false;
    const bool written = Process(stream, form.close, closed);
    answer = stream.Take();
    return written;
  }

 private:
  // The signature of process_request differs between versions of the library.
  template <typename S>
  bool Process(S& stream, bool close, bool& closed) {
    const std::function<void(httplib::Request&)> setup;
    if constexpr (requires(Library & core) {
                    core.Library::process_request(stream, close, closed, setup);
                  }) {
      return this->process_request(stream, close, closed, setup);
    } else {
      return this->process_request(stream, std::string(), 0, std::string(), 0, close, closed,
                                   setup);
    }
  }

  void Fill(httplib::Response& to) {
    to.status = reply_.status;
    for (const auto& [name, value] : reply_.headers) to.set_header(name, value);
    if (!reply_.body.empty()) to.set_header("Content-Type", reply_.content_type);
    if (say_keep_) to.set_header("Connection", "keep-alive");
    to.body = std::move(reply_.body);
  }

  Reply reply_;
  bool say_keep_ = false;
};

AnswerWriter::AnswerWriter() : library_(std::make_unique<Library>()) {}

AnswerWriter::~AnswerWriter() = default;

std::string AnswerWriter::Write(Reply reply, AnswerForm& form) {
  std::string answer;
  try {
    if (library_->Write(std::move(reply), form, answer)) return answer;
  } catch (const std::exception& fault) {  // of the library, or out of memory
    LogError("an answer could not be written: {}", fault.what());
  }
  form.close = true;
  return std::string(kFailed);
}

}  // namespace stepscope
