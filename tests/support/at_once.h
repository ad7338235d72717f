#pragma once

#include <functional>
#include <utility>

#include "server/edge/handlers.h"

namespace stepscope {

// Makes a handler of a function that returns the reply.
inline AnswerRequest AtOnce(std::function<Reply(const Request&)> answer) {
  return [answer = std::move(answer)](const Request& request, const Respond& respond, MayWait) {
    respond(answer(request));
    return true;
  };
}

}  // namespace stepscope
