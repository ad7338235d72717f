#pragma once

#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace stepscope {

struct Caller;  // who asks; the edge carries it and does not look inside

// A complete, checked HTTP request. Nothing in it refers to the library that read it.
struct Request {
  std::string method;                          // upper case
  std::string path;                            // without the query, percent-decoding not applied
  std::string query;                           // raw, without '?'
  std::map<std::string, std::string> headers;  // names in lower case
  std::string body;
  bool has_body = false;         // the head announces one
  std::string peer;              // address of the other end; "unix" on a unix socket
  bool secure = false;           // came over TLS
  std::string certificate = {};  // the name in the client's verified certificate; "" without one
  std::shared_ptr<const Caller> caller =
      {};                  // set by the check of the head; shared by its requests
  std::string request_id;  // also sent back as X-Request-Id

  std::string_view Header(std::string_view name) const;  // "" when absent
};

// What a handler answers. The edge adds the headers that every answer carries (trust.md 3.8).
struct Reply {
  int status = 200;
  std::string content_type = "application/json";
  std::string body;
  std::vector<std::pair<std::string, std::string>> headers;
  // More of them, lines as they go out, each with its end. Constant text: nobody looks into it.
  std::string_view lines = {};
};

}  // namespace stepscope
