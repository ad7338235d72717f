// http-parser, Node's former parser, as Debian has it: widely used, and lenient.

#include <http_parser.h>

#include <algorithm>

#include "core/base/text.h"
#include "tests/fuzz/peer.h"

namespace stepscope {
namespace {

struct Reading {
  PeerRequest request;
  std::string name, value;
  bool in_value = false, complete = false;

  void EndHeader() {
    if (!in_value) return;
    std::ranges::transform(name, name.begin(), [](unsigned char byte) {
      return static_cast<char>(byte >= 'A' && byte <= 'Z' ? byte + 0x20 : byte);
    });
    const std::string_view trimmed = Trim(value);
    const auto [header, added] = request.headers.try_emplace(name, trimmed);
    std::string& joined = header->second;
    if (!added && !trimmed.empty()) joined.append(joined.empty() ? "" : ", ").append(trimmed);
    name.clear();
    value.clear();
    in_value = false;
  }
};

Reading& Of(http_parser* parser) {
  return *static_cast<Reading*>(parser->data);
}

int OnName(http_parser* parser, const char* text, std::size_t size) {
  Of(parser).EndHeader();
  Of(parser).name.append(text, size);
  return 0;
}

int OnValue(http_parser* parser, const char* text, std::size_t size) {
  Of(parser).in_value = true;
  Of(parser).value.append(text, size);
  return 0;
}

// For a header without a value there is no call.
int OnHead(http_parser* parser) {
  Reading& reading = Of(parser);
  if (!reading.name.empty()) reading.in_value = true;
  reading.EndHeader();
  reading.request.method = http_method_str(static_cast<http_method>(parser->method));
  reading.request.minor_version = parser->http_minor;
  return 0;
}

int OnTarget(http_parser* parser, const char* text, std::size_t size) {
  Of(parser).request.target.append(text, size);
  return 0;
}

int OnBody(http_parser* parser, const char* text, std::size_t size) {
  Of(parser).request.body.append(text, size);
  return 0;
}

int OnEnd(http_parser* parser) {
  Of(parser).complete = true;
  Of(parser).request.keep_alive = http_should_keep_alive(parser) != 0;
  http_parser_pause(parser, 1);
  return 0;
}

http_parser_settings Settings() {
  http_parser_settings settings;
  http_parser_settings_init(&settings);
  settings.on_url = OnTarget;
  settings.on_header_field = OnName;
  settings.on_header_value = OnValue;
  settings.on_headers_complete = OnHead;
  settings.on_body = OnBody;
  settings.on_message_complete = OnEnd;
  return settings;
}

}  // namespace

// http-parser reads CONNECT only with host and port, which we refuse.
bool PeerKnows(std::string_view method) {
  if (method == http_method_str(HTTP_CONNECT)) return false;
  for (int known = 0; known <= HTTP_SOURCE; ++known) {
    if (method == http_method_str(static_cast<http_method>(known))) return true;
  }
  return false;
}

std::optional<PeerRequest> ReadAsPeer(std::string_view bytes) {
  static const http_parser_settings kSettings = Settings();
  http_parser parser;
  http_parser_init(&parser, HTTP_REQUEST);
  Reading reading;
  parser.data = &reading;
  reading.request.bytes = http_parser_execute(&parser, &kSettings, bytes.data(), bytes.size());
  if (!reading.complete || parser.http_major != 1) return std::nullopt;
  return reading.request;
}

}  // namespace stepscope
