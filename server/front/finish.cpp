#include "server/front/finish.h"

#include <algorithm>

#include "core/base/text.h"
#include "core/wire/compress.h"
#include "server/front/gzip.h"
#include "server/front/host.h"

namespace stepscope {
namespace {

constexpr std::pair<std::string_view, std::string_view> kAlways[] = {
    {"Content-Security-Policy",
     "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src "
     "'self'; font-src 'self'; base-uri 'none'; form-action 'self'; frame-ancestors 'none'; "
     "require-trusted-types-for 'script'; trusted-types stepscope"},
    {"X-Content-Type-Options", "nosniff"},
    {"Referrer-Policy", "no-referrer"},
    {"Cross-Origin-Opener-Policy", "same-origin"},
    {"Cross-Origin-Resource-Policy", "same-origin"},
    {"Permissions-Policy", "camera=(), geolocation=(), microphone=()"},
};

// One text, because to write the headers one by one would be half of the cost of an answer.
const std::string& AlwaysAsLines() {
  static const std::string lines = [] {
    std::string text;
    for (const auto& [name, value] : kAlways) text += Format("{}: {}\r\n", name, value);
    return text;
  }();
  return lines;
}

constexpr std::size_t kPackFrom = 8 * 1024;

std::string_view Find(const Reply& reply, std::string_view name) {
  const auto found =
      std::ranges::find(reply.headers, name, &std::pair<std::string, std::string>::first);
  return found == reply.headers.end() ? std::string_view() : std::string_view(found->second);
}

bool Knows(const Request& request, std::string_view etag) {
  for (const std::string_view part : Split(request.Header("if-none-match"), ',')) {
    std::string_view known = Trim(part);
    if (known.starts_with("W/")) known.remove_prefix(2);
    if (known == etag || known == "*") return true;
  }
  return false;
}

void Shorten(const Request& request, Reply& reply) {
  const std::string_view etag = Find(reply, "ETag");
  if (reply.status != 200 || etag.empty() || !Knows(request, etag)) return;
  reply.status = 304;
  reply.body.clear();
}

void LockDown(Reply& reply) {
  const auto is_set = [&](const auto& always) { return !Find(reply, always.first).empty(); };
  if (std::ranges::none_of(kAlways, is_set)) {
    reply.lines = AlwaysAsLines();
    return;
  }
  for (const auto& [name, value] : kAlways) {
    if (Find(reply, name).empty()) reply.headers.emplace_back(name, value);
  }
}

void Replace(Reply& reply, const char* coding, std::string packed) {
  reply.body = std::move(packed);
  reply.headers.emplace_back("Content-Encoding", coding);
}

void Pack(const Request& request, Reply& reply) {
  const bool made = reply.content_type.starts_with("application/json") ||
                    reply.content_type.starts_with("text/html");
  if (!made || !Find(reply, "Content-Encoding").empty()) return;
  reply.headers.emplace_back("Vary", "Accept-Encoding");
  const std::string_view accepted = request.Header("accept-encoding");
  if (reply.body.size() < kPackFrom) return;
  // zstd takes a third of the time of gzip. A client that takes anything ("*") may not know it.
  if (accepted.find("zstd") != accepted.npos && Accepts(accepted, "zstd")) {
    return Replace(reply, "zstd", Compress(reply.body));
  }
  if (!Accepts(accepted, "gzip")) return;
  if (auto packed = Gzip(reply.body)) Replace(reply, "gzip", std::move(*packed));
}

// A browser remembers Strict-Transport-Security for the name, so it is not sent for names that mean
// another machine tomorrow.
void KeepToTls(const Request& request, Reply& reply) {
  const std::string_view name = HostName(request.Header("host"));
  if (!request.secure || IsHostAddress(name) || name.find('.') == std::string_view::npos) return;
  reply.headers.emplace_back("Strict-Transport-Security", "max-age=31536000");
}

// The service's clock in the form of RFC 9110, by which a page knows that the browser's is wrong.
std::string HttpDate(Time now) {
  constexpr const char* kDays[] = {"Sun", "Mon", "Tue", "Wed", "Thu", "Fri", "Sat"};
  constexpr const char* kMonths[] = {"Jan", "Feb", "Mar", "Apr", "May", "Jun",
                                     "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"};
  const auto day = std::chrono::floor<std::chrono::days>(now);
  const std::chrono::year_month_day date(day);
  const std::chrono::hh_mm_ss time(std::chrono::floor<std::chrono::seconds>(now - day));
  return Format("{}, {:02} {} {:04} {:02}:{:02}:{:02} GMT",
                kDays[std::chrono::weekday(day).c_encoding()], unsigned(date.day()),
                kMonths[unsigned(date.month()) - 1], int(date.year()), time.hours().count(),
                time.minutes().count(), time.seconds().count());
}

}  // namespace

void Finish(const Request& request, Time now, Duration took, Reply& reply) {
  Shorten(request, reply);
  Pack(request, reply);
  LockDown(reply);
  KeepToTls(request, reply);
  if (Find(reply, "Cache-Control").empty()) reply.headers.emplace_back("Cache-Control", "no-store");
  reply.headers.emplace_back("X-Request-Id", request.request_id);
  reply.headers.emplace_back("Date", HttpDate(now));
  const double milliseconds = std::chrono::duration<double, std::milli>(took).count();
  reply.headers.emplace_back("Server-Timing", Format("app;dur={:.3f}", milliseconds));
}

}  // namespace stepscope
