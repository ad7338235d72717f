#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cctype>

#include "tests/support/raw_client.h"

namespace stepscope {

RawClient::RawClient(int port) : socket_(socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
  const timeval patience{10, 0};
  setsockopt(socket_, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience);
  setsockopt(socket_, SOL_SOCKET, SO_SNDTIMEO, &patience, sizeof patience);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(static_cast<std::uint16_t>(port));
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  if (connect(socket_, reinterpret_cast<sockaddr*>(&address), sizeof address) != 0) EndSending();
}

RawClient::~RawClient() {
  close(socket_);
}

bool RawClient::Send(std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t put = send(socket_, bytes.data(), bytes.size(), MSG_NOSIGNAL);
    if (put <= 0) return false;
    bytes.remove_prefix(static_cast<std::size_t>(put));
  }
  return true;
}

void RawClient::EndSending() {
  shutdown(socket_, SHUT_WR);
}

bool RawClient::Fill() {
  std::array<char, 65536> piece;
  const ssize_t got = recv(socket_, piece.data(), piece.size(), 0);
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
  return buffer_.empty() && recv(socket_, &byte, 1, 0) == 0;
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
