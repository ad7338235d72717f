#pragma once

#include <cstddef>
#include <string>

#include "core/base/result.h"
#include "core/http/client.h"
#include "core/http/connection.h"

namespace stepscope {

struct AnswerLimit {
  std::size_t bytes;  // of the body
  bool cut;           // take the beginning of a longer one; otherwise it is an error
};

struct Exchanged {
  HttpAnswer answer;
  bool reusable = false;  // the connection stands at the start of a next answer
};

// Sends one request over an open connection and reads its answer. `answered` says whether any byte
// came back, also when it failed.
Result<Exchanged> Exchange(HttpConnection& connection, const Url& url, const HttpRequest& request,
                           const AnswerLimit& most, const WaitLimit& limit, bool& answered);

}  // namespace stepscope
