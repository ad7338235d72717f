#include "bench/edge/agent.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>

#include <algorithm>
#include <array>
#include <cerrno>

#include "core/base/text.h"

namespace stepscope {
namespace {

constexpr Duration kAgain = 1s;  // as Retry-After says

sockaddr_in Address(std::uint32_t host, int port) {
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(static_cast<std::uint16_t>(port));
  address.sin_addr.s_addr = htonl(host);
  return address;
}

std::int64_t Micros(SteadyTime time) {
  return std::chrono::duration_cast<std::chrono::microseconds>(time.time_since_epoch()).count();
}

// The number behind a word; 0 when it is not there.
std::int64_t NumberBehind(std::string_view text, std::string_view word) {
  const std::size_t at = text.find(word);
  if (at == std::string_view::npos) return 0;
  std::int64_t number = 0;
  for (std::size_t i = at + word.size(); i < text.size(); ++i) {
    if (text[i] == ' ') continue;
    if (text[i] < '0' || text[i] > '9') break;
    number = number * 10 + (text[i] - '0');
  }
  return number;
}

}  // namespace

LoadAgent::LoadAgent(std::int64_t number, const LoadTarget& target, LoadFigures& figures)
    : number_(number), target_(target), figures_(figures) {}

void LoadAgent::Step(SteadyTime now) {
  if (idle() && socket_ && now < wake_) return Read(now);  // the other side may have closed it
  if (idle() && now >= wake_ && !done()) Ask(now);
  if (sending_) Write(now);
  if (waiting_) Read(now);
}

void LoadAgent::Ask(SteadyTime now) {
  const std::string& body = pushes_[next_];
  request_ = Format("POST {} HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: {}\r\n", target_.path,
                    target_.type);
  if (!target_.token.empty()) request_ += Format("Authorization: Bearer {}\r\n", target_.token);
  request_ += Format("Content-Length: {}\r\n\r\n", body.size());
  request_ += body;
  sent_ = 0;
  answer_.clear();
  sending_ = true;
  asked_ = now;
  if (!socket_) Connect();
}

void LoadAgent::Connect() {
  socket_ = Descriptor(::socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0));
  const int on = 1;
  setsockopt(socket_.get(), IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
  setsockopt(socket_.get(), IPPROTO_IP, IP_BIND_ADDRESS_NO_PORT, &on, sizeof on);
  constexpr std::uint32_t kFirst = 127U << 24 | 2U << 16 | 1U;
  const auto host = static_cast<std::uint32_t>(number_ / target_.agents_per_address);
  const sockaddr_in from = Address(kFirst + host, 0);
  const sockaddr_in to = Address(INADDR_LOOPBACK, target_.port);
  bind(socket_.get(), reinterpret_cast<const sockaddr*>(&from), sizeof from);
  connect(socket_.get(), reinterpret_cast<const sockaddr*>(&to), sizeof to);
  ++figures_.connects;
}

void LoadAgent::Write(SteadyTime now) {
  while (sent_ < request_.size()) {
    const ssize_t put =
        send(socket_.get(), request_.data() + sent_, request_.size() - sent_, MSG_NOSIGNAL);
    if (put < 0 && (errno == EAGAIN || errno == EINPROGRESS || errno == ENOTCONN)) return;
    if (put <= 0) return Break(now);
    sent_ += static_cast<std::size_t>(put);
  }
  sending_ = false;
  waiting_ = true;
  asked_ = now;
}

void LoadAgent::Read(SteadyTime now) {
  std::array<char, 16384> piece;
  const ssize_t got = recv(socket_.get(), piece.data(), piece.size(), 0);
  if (got < 0 && errno == EAGAIN) return;
  if (got <= 0) return Break(now);
  answer_.append(piece.data(), static_cast<std::size_t>(got));
  const std::size_t head = answer_.find("\r\n\r\n");
  if (head == std::string::npos) return;
  const std::string_view text = std::string_view(answer_).substr(0, head);
  const auto size = static_cast<std::size_t>(NumberBehind(text, "Content-Length:"));
  if (answer_.size() < head + 4 + size) return;
  const bool ends = text.find("Connection: close") != std::string_view::npos;
  const int status = static_cast<int>(NumberBehind(text, "HTTP/1.1"));
  waiting_ = false;
  if (ends) socket_ = Descriptor();
  Take(status, answer_.substr(head + 4, size), now);
}

void LoadAgent::Take(int status, const std::string& body, SteadyTime now) {
  if (status == 429 || status == 503) {
    ++figures_.busy;
    wake_ = now + kAgain + 10ms * (number_ % 100);  // not all at once
  } else if (status == 200) {
    ++figures_.answered;
    figures_.latencies_us.push_back(Micros(now) - Micros(due_));
    figures_.last[number_] = NumberBehind(body, "\"acknowledged\":");
    ++next_;
    due_ += target_.every;
    wake_ = due_;
  } else {
    if (figures_.other.empty()) figures_.first_other = body.substr(0, 300);
    ++figures_.other[status];
    refused_ = true;
  }
}

void LoadAgent::Break(SteadyTime now) {
  if (waiting_) figures_.cut_at_us.push_back(Micros(asked_));
  if (!idle()) ++figures_.broken;
  sending_ = waiting_ = false;
  socket_ = Descriptor();
  if (wake_ < now + kAgain) wake_ = now + kAgain;
}

}  // namespace stepscope
