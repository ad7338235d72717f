#include "server/alert/retry.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <iterator>

#include "core/base/text.h"

namespace stepscope {
namespace {

constexpr Duration kWaits[] = {5s, 30s, 5min, 30min, 2h, 5h, 10h};
constexpr std::int64_t kMostRefusals = 3;
constexpr std::size_t kLoggedBytes = 1024;

// The target understood, and does not want the message: to send it again will not help.
bool IsRefusal(std::int64_t status) {
  constexpr int kPassing[] = {408, 425, 429};
  return status >= 400 && status < 500 && std::ranges::count(kPassing, status) == 0;
}

std::int64_t Refusals(const Json& attempts) {
  return std::ranges::count_if(attempts, [](const Json& attempt) {
    const auto status = attempt.find("status");
    return status != attempt.end() && status->is_number_integer() &&
           IsRefusal(status->get<std::int64_t>());
  });
}

}  // namespace

Json ToJson(const Attempt& attempt) {
  const bool answered = attempt.status != 0;
  const double ms = std::chrono::duration<double, std::milli>(attempt.took).count();
  return {{"at", ToRfc3339(attempt.at)},
          {"at_us", ToMicros(attempt.at)},
          {"status", answered ? Json(attempt.status) : Json()},
          {"duration_ms", std::max(0.0, std::floor(ms * 1000) / 1000)},
          {"answer", answered ? Json(Printable(attempt.answer, kLoggedBytes)) : Json()},
          {"error", answered ? Json() : Json(Printable(attempt.error, kLoggedBytes))}};
}

Decision Decide(const Attempt& attempt, const Json& before, double stretch) {
  if (attempt.status >= 200 && attempt.status < 300) return {"delivered"};
  if (attempt.status == 410) return {"dead", {}, true};
  if (IsRefusal(attempt.status) && Refusals(before) + 1 >= kMostRefusals) return {"dead"};
  if (before.size() >= std::size(kWaits)) return {"dead"};
  const auto wait = static_cast<double>(kWaits[before.size()].count()) * stretch;
  return {"ready", std::max(Duration(static_cast<std::int64_t>(wait)), attempt.retry_after)};
}

}  // namespace stepscope
