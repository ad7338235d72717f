#include "server/api/webhooks/delivery_answer.h"

#include "core/base/text.h"
#include "server/api/http/answer.h"
#include "server/store/webhooks/deliveries.h"

namespace stepscope {
namespace {

OrderedJson NumberOf(const Json& attempt, const char* key) {
  const auto found = attempt.find(key);
  return found != attempt.end() && found->is_number() ? OrderedJson(*found) : OrderedJson(nullptr);
}

// The time of the attempt: "at_us", or "at" as text.
std::optional<std::int64_t> TimeOf(const Json& attempt) {
  const Json at_us = MemberInteger(attempt, "at_us");
  if (!at_us.is_null()) return at_us.get<std::int64_t>();
  const Json at = MemberText(attempt, "at");
  const Result<Time> time = ParseRfc3339(at.is_string() ? at.get<std::string>() : "");
  return time ? std::optional(ToMicros(*time)) : std::nullopt;
}

OrderedJson AttemptJson(const Json& attempt) {
  OrderedJson json = OrderedJson::object();
  PutTime(json, "at", TimeOf(attempt));
  json["status"] = MemberInteger(attempt, "status");
  json["duration_ms"] = NumberOf(attempt, "duration_ms");
  json["answer"] = MemberText(attempt, "answer");
  json["error"] = MemberText(attempt, "error");
  return json;
}

// A message about a finding that was over before it had lasted is dead and was never tried.
std::string StateOf(const DeliveryRow& delivery) {
  const bool tried = !delivery.attempts.is_array() || !delivery.attempts.empty();
  const bool withdrawn = delivery.state == "dead" && !delivery.finding_of.empty() && !tried;
  return withdrawn ? "withdrawn" : delivery.state;
}

// The job of the message, from its own body.
OrderedJson JobOf(const DeliveryRow& delivery) {
  const Result<Json> body = ParseJson(delivery.body);
  if (!body || !body->is_object()) return nullptr;
  const auto content = body->find("data");
  return content == body->end() ? OrderedJson(nullptr) : OrderedJson(MemberText(*content, "job"));
}

}  // namespace

OrderedJson ToJson(const DeliveryRow& delivery) {
  OrderedJson json = {{"id", std::to_string(delivery.delivery_id)},
                      {"webhook", std::to_string(delivery.webhook_id)},
                      {"job", JobOf(delivery)},
                      {"event", delivery.event},
                      {"sequence", delivery.sequence},
                      {"state", StateOf(delivery)}};
  PutTime(json, "created", delivery.created_us);
  PutTime(json, "due", delivery.due_us);
  PutTime(json, "delivered", delivery.delivered_us);
  json["attempts"] = OrderedJson::array();
  if (!delivery.attempts.is_array()) return json;
  for (const Json& attempt : delivery.attempts) json["attempts"].push_back(AttemptJson(attempt));
  return json;
}

}  // namespace stepscope
