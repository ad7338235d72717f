#pragma once

#include "core/base/result.h"
#include "core/http/answer_parser.h"
#include "core/http/client.h"
#include "core/http/connection.h"

namespace stepscope {

struct Exchanged {
  HttpAnswer answer;
  bool reusable = false;  // the connection can carry the next request
};

// Sends one request over an open connection and reads its answer. `answered` becomes true when any
// byte came back, also when the exchange failed.
Result<Exchanged> Exchange(HttpConnection& connection, const Url& url, const HttpRequest& request,
                           const AnswerLimit& most, const WaitLimit& limit, bool& answered);

}  // namespace stepscope
