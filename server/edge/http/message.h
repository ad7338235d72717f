#pragma once

#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace stepscope {

struct Caller;  // who asks; the edge carries it and does not look inside
class BodyFile;

// A complete, checked HTTP request.
struct Request {
  std::string method;                          // upper case
  std::string path;                            // without the query, percent-decoding not applied
  std::string query;                           // raw, without '?'
  std::map<std::string, std::string> headers;  // names in lower case
  std::string body;
  // What comes before `body`, where the body was too large for memory; null: nothing. Only routes
  // that take such bodies have one (server/edge/body_file.h).
  std::shared_ptr<const BodyFile> body_file = {};
  bool has_body = false;         // the head announces one
  std::string peer;              // address of the other end; "unix" on a unix socket
  bool secure = false;           // came over TLS
  std::string certificate = {};  // the name in the client's verified certificate; "" without one
  std::shared_ptr<const Caller> caller =
      {};                  // set by the check of the head; shared by its requests
  std::string request_id;  // also sent back as X-Request-Id

  std::string_view Header(std::string_view name) const;  // "" when absent
};

// The answer of a handler. server/front/finish.h adds the headers that every answer carries.
struct Reply {
  int status = 200;
  std::string content_type = "application/json";
  std::string body;
  std::vector<std::pair<std::string, std::string>> headers;
  // Further headers, as lines that end with CR LF. Constant text: nobody checks it.
  std::string_view lines = {};
};

}  // namespace stepscope
