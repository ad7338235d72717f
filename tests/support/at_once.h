#pragma once

#include <functional>
#include <utility>

#include "server/edge/handlers.h"

namespace stepscope {

// For handlers that have the reply when they return.
inline AnswerRequest AtOnce(std::function<Reply(const Request&)> answer) {
  return [answer = std::move(answer)](const Request& request, const Respond& respond) {
    respond(answer(request));
  };
}

}  // namespace stepscope
