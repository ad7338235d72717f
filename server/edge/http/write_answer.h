#pragma once

#include <string>

#include "server/edge/http/message.h"

namespace stepscope {

// The circumstances that the bytes of an answer depend on beside the reply.
struct AnswerForm {
  bool head_only = false;  // an answer to HEAD has no body
  bool close = false;      // the connection carries no further request
  bool say_keep = false;   // tell a client of HTTP/1.0 that it does
};

// The bytes of an HTTP/1.1 answer. A header with a line break in it is left out. Never fails: where
// memory does not suffice it is a bare 500, and `form` says that it closes.
std::string WriteAnswer(Reply reply, AnswerForm& form);

}  // namespace stepscope
