#include "server/edge/http/write_answer.h"

#include <algorithm>
#include <charconv>
#include <iterator>
#include <new>

namespace stepscope {
namespace {

constexpr std::string_view kEndOfLine = "\r\n";
constexpr std::string_view kFailed =
    "HTTP/1.1 500 Internal Server Error\r\nContent-Length: 0\r\nConnection: close\r\n\r\n";

struct StatusName {
  int status;
  std::string_view name;
};

constexpr StatusName kStatusNames[] = {
    {200, "OK"},
    {201, "Created"},
    {202, "Accepted"},
    {204, "No Content"},
    {304, "Not Modified"},
    {400, "Bad Request"},
    {401, "Unauthorized"},
    {403, "Forbidden"},
    {404, "Not Found"},
    {405, "Method Not Allowed"},
    {408, "Request Timeout"},
    {409, "Conflict"},
    {410, "Gone"},
    {411, "Length Required"},
    {413, "Payload Too Large"},
    {414, "URI Too Long"},
    {415, "Unsupported Media Type"},
    {416, "Range Not Satisfiable"},
    {417, "Expectation Failed"},
    {421, "Misdirected Request"},
    {422, "Unprocessable Entity"},
    {429, "Too Many Requests"},
    {431, "Request Header Fields Too Large"},
    {500, "Internal Server Error"},
    {501, "Not Implemented"},
    {503, "Service Unavailable"},
    {505, "HTTP Version Not Supported"},
};

// "" for a status without a name, which HTTP allows.
std::string_view NameOf(int status) {
  const auto* const found = std::ranges::find(kStatusNames, status, &StatusName::status);
  return found == std::end(kStatusNames) ? "" : found->name;
}

void AppendNumber(std::string& head, std::size_t number) {
  char digits[20];
  const auto end = std::to_chars(std::begin(digits), std::end(digits), number);
  head.append(digits, end.ptr);
}

bool HasLineBreak(std::string_view text) {
  return text.find_first_of(kEndOfLine) != text.npos;
}

void AppendHeader(std::string& head, std::string_view name, std::string_view value) {
  if (HasLineBreak(name) || HasLineBreak(value)) return;
  head.append(name).append(": ").append(value).append(kEndOfLine);
}

std::string WriteHead(const Reply& reply, const AnswerForm& form) {
  std::string head = "HTTP/1.1 ";
  AppendNumber(head, static_cast<std::size_t>(reply.status));
  head.append(" ").append(NameOf(reply.status)).append(kEndOfLine);
  if (form.close) AppendHeader(head, "Connection", "close");
  if (form.say_keep && !form.close) AppendHeader(head, "Connection", "keep-alive");
  head += "Content-Length: ";
  AppendNumber(head, reply.body.size());
  head += kEndOfLine;
  if (!reply.body.empty()) AppendHeader(head, "Content-Type", reply.content_type);
  for (const auto& [name, value] : reply.headers) AppendHeader(head, name, value);
  return head.append(reply.lines).append(kEndOfLine);
}

}  // namespace

std::string WriteAnswer(Reply reply, AnswerForm& form) {
  try {
    std::string answer = WriteHead(reply, form);
    if (!form.head_only) answer += reply.body;
    return answer;
  } catch (const std::bad_alloc&) {
    form.close = true;
    return std::string(kFailed);
  }
}

}  // namespace stepscope
