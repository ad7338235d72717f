#include <arpa/inet.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <sys/un.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <cstdint>
#include <utility>

#include "tests/support/raw_client.h"

namespace stepscope {

namespace {

int Connect(int domain, const sockaddr* from, const sockaddr* to, socklen_t size) {
  const int made = socket(domain, SOCK_STREAM | SOCK_CLOEXEC, 0);
  if (from != nullptr && bind(made, from, size) != 0) return close(made), -1;
  if (connect(made, to, size) == 0) return made;
  close(made);
  return -1;
}

sockaddr_in Address(const std::string& host, int port) {
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(static_cast<std::uint16_t>(port));
  inet_pton(AF_INET, host.c_str(), &address.sin_addr);
  return address;
}

}  // namespace

int ConnectTo(int port, const std::string& from) {
  const sockaddr_in source = Address(from, 0), target = Address("127.0.0.1", port);
  return Connect(AF_INET, reinterpret_cast<const sockaddr*>(&source),
                 reinterpret_cast<const sockaddr*>(&target), sizeof target);
}

int ConnectTo6(int port) {
  sockaddr_in6 target{};
  target.sin6_family = AF_INET6;
  target.sin6_port = htons(static_cast<std::uint16_t>(port));
  target.sin6_addr = in6addr_loopback;
  return Connect(AF_INET6, nullptr, reinterpret_cast<const sockaddr*>(&target), sizeof target);
}

int ConnectToFile(const std::string& path) {
  sockaddr_un target{};
  target.sun_family = AF_UNIX;
  path.copy(target.sun_path, sizeof target.sun_path - 1);
  return Connect(AF_UNIX, nullptr, reinterpret_cast<const sockaddr*>(&target), sizeof target);
}

RawClient::RawClient(Socket connected) : socket_(connected.descriptor) {
  const timeval patience{10, 0};
  setsockopt(socket_, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience);
  setsockopt(socket_, SOL_SOCKET, SO_SNDTIMEO, &patience, sizeof patience);
}

RawClient::~RawClient() {
  if (socket_ >= 0) close(socket_);
}

ssize_t RawClient::Put(std::string_view bytes) {
  return send(socket_, bytes.data(), bytes.size(), MSG_NOSIGNAL);
}

ssize_t RawClient::Get(char* to, std::size_t size) {
  return recv(socket_, to, size, 0);
}

bool RawClient::Send(std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t put = Put(bytes);
    if (put <= 0) return false;
    bytes.remove_prefix(static_cast<std::size_t>(put));
  }
  return true;
}

bool RawClient::HasNews(int within_ms) {
  pollfd watched{socket_, POLLIN, 0};
  return !buffer_.empty() || poll(&watched, 1, within_ms) > 0;
}

void RawClient::SendAtOnce() {
  const int on = 1;
  setsockopt(socket_, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
}

void RawClient::Break() {
  const linger now{1, 0};
  setsockopt(socket_, SOL_SOCKET, SO_LINGER, &now, sizeof now);
  close(std::exchange(socket_, -1));
}

void RawClient::EndSending() {
  shutdown(socket_, SHUT_WR);
}

bool RawClient::Fill() {
  std::array<char, 65536> piece;
  const ssize_t got = Get(piece.data(), piece.size());
  if (got > 0) buffer_.append(piece.data(), static_cast<std::size_t>(got));
  return got > 0;
}

std::string RawClient::ReadAnswer() {
  std::size_t head = 0;
  while ((head = buffer_.find("\r\n\r\n")) == std::string::npos) {
    if (!Fill()) return buffer_;
  }
  const std::string length = HeaderOf(buffer_.substr(0, head + 4), "content-length");
  const std::size_t size = head + 4 + (length.empty() ? 0 : std::stoul(length));
  while (buffer_.size() < size) {
    if (!Fill()) break;
  }
  std::string answer = buffer_.substr(0, size);
  buffer_.erase(0, size);
  return answer;
}

std::string RawClient::ReadToEnd() {
  while (Fill()) {
  }
  return buffer_;
}

bool RawClient::IsClosed() {
  char byte = 0;
  return buffer_.empty() && Get(&byte, 1) == 0;
}

int StatusOf(const std::string& answer) {
  return answer.starts_with("HTTP/1.1 ") ? std::stoi(answer.substr(9, 3)) : 0;
}

std::string BodyOf(const std::string& answer) {
  const std::size_t head = answer.find("\r\n\r\n");
  return head == std::string::npos ? "" : answer.substr(head + 4);
}

std::string HeaderOf(const std::string& answer, std::string_view name) {
  std::string lower = answer.substr(0, answer.find("\r\n\r\n") + 2);
  std::ranges::transform(lower, lower.begin(),
                         [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  const std::size_t at = lower.find("\r\n" + std::string(name) + ": ");
  if (at == std::string::npos) return "";
  const std::size_t from = at + 4 + name.size();
  return answer.substr(from, answer.find("\r\n", from) - from);
}

}  // namespace stepscope
