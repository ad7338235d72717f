#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "server/edge/http/message.h"

namespace stepscope {

// What the bytes of an answer depend on beside the reply.
struct AnswerForm {
  bool head_only = false;  // to HEAD: no body
  bool close = false;      // the connection carries no further request
  bool say_keep = false;   // to HTTP/1.0: say that it does
};

// Turns a reply into the bytes of an HTTP/1.1 answer, by cpp-httplib from memory to memory. The
// library reads a request that is always the same; nothing from outside reaches it. For one thread.
class AnswerWriter {
 public:
  AnswerWriter();
  ~AnswerWriter();

  // Never fails: what the library cannot write becomes a bare 500, and `form` says that it closes.
  std::string Write(Reply reply, AnswerForm& form);

 private:
  class Library;
  std::unique_ptr<Library> library_;
};

}  // namespace stepscope
