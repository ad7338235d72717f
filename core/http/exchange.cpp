#include "core/http/exchange.h"

#include <algorithm>
#include <array>
#include <vector>

#include "core/base/text.h"

namespace stepscope {
namespace {

constexpr std::size_t kPieceBytes = 256 * 1024;

std::string WriteHead(const Url& url, const HttpRequest& from) {
  std::string text = Format(
      "{} {} HTTP/1.1\r\nHost: {}\r\nUser-Agent: stepscope\r\nAccept: */*\r\n"
      "Accept-Encoding: identity\r\n",
      from.method, from.target.empty() ? url.target : from.target, url.Authority());
  for (const auto& [name, value] : from.headers) text += Format("{}: {}\r\n", name, value);
  const std::uint64_t bytes = from.read_body ? from.body_bytes : from.body.size();
  if (from.method != "GET" || bytes > 0) {
    text += Format("Content-Length: {}\r\n", bytes);
  }
  text += "\r\n";
  return text += from.body;
}

Status WriteRequest(HttpConnection& connection, const Url& url, const HttpRequest& from,
                    const WaitLimit& limit) {
  if (Status sent = connection.Write(WriteHead(url, from), limit); !sent || !from.read_body) {
    return sent;
  }
  std::vector<char> piece(kPieceBytes);
  for (std::uint64_t at = 0; at < from.body_bytes;) {
    const auto wanted = std::min<std::uint64_t>(piece.size(), from.body_bytes - at);
    const std::size_t got = from.read_body(at, std::span(piece).first(std::size_t(wanted)));
    if (got == 0) return Invalid("the body is shorter than it was");
    if (Status sent = connection.Write({piece.data(), got}, limit); !sent) return sent;
    at += got;
  }
  return {};
}

// Whether the bytes begin as TLS does: with a handshake record or an alert of version 3.
bool IsTls(std::string_view bytes) {
  return bytes.size() > 1 && (bytes[0] == 0x15 || bytes[0] == 0x16) && bytes[1] == 0x03;
}

Error Failure(AnswerParser::State state, bool is_tls, bool answered) {
  if (is_tls) return Unavailable("it speaks TLS there; is it https:// ?");
  if (state == AnswerParser::State::kTooLarge) {
    return Unavailable("the answer is larger than allowed");
  }
  if (state == AnswerParser::State::kWrong) return Unavailable("the answer is not HTTP");
  if (!answered) return Unavailable("the connection was closed without an answer");
  return Unavailable("the connection was closed in the middle of the answer");
}

}  // namespace

Result<Exchanged> Exchange(HttpConnection& connection, const Url& url, const HttpRequest& from,
                           const AnswerLimit& most, const WaitLimit& limit, bool& answered) {
  answered = false;
  if (Status sent = WriteRequest(connection, url, from, limit); !sent) return sent.error();
  using State = AnswerParser::State;
  AnswerParser parser(most);
  std::array<char, 4096> buffer;
  State state = State::kMore;
  bool is_tls = false, at_end = false;
  while (state == State::kMore && !at_end) {
    const auto count = connection.Read(buffer.data(), buffer.size(), limit);
    if (!count) return count.error();
    const std::string_view bytes(buffer.data(), *count);
    if (!answered) is_tls = IsTls(bytes);
    at_end = bytes.empty();
    answered = answered || !at_end;
    state = at_end ? parser.End() : parser.Feed(bytes);
  }
  if (state != State::kDone && state != State::kCut) return Failure(state, is_tls, answered);
  return Exchanged{std::move(parser.answer()), state == State::kDone && parser.reusable()};
}

}  // namespace stepscope
