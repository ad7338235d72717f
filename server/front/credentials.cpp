#include "server/front/credentials.h"

#include "core/base/text.h"

namespace stepscope {
namespace {

constexpr std::string_view kBearer = "bearer ";

std::string_view CookieName(const Request& head) {
  return head.secure ? "__Host-st" : "st";
}

// Any other scheme is taken as a token that nobody has.
std::string TokenIn(std::string_view authorization) {
  std::string scheme(authorization.substr(0, kBearer.size()));
  for (char& letter : scheme) letter = letter >= 'A' && letter <= 'Z' ? char(letter + 32) : letter;
  return scheme == kBearer ? std::string(Trim(authorization.substr(kBearer.size())))
                           : std::string();
}

}  // namespace

Credentials CredentialsOf(const Request& head) {
  Credentials shown;
  shown.certificate = head.certificate;
  if (head.headers.contains("authorization")) shown.token = TokenIn(head.Header("authorization"));
  int times = 0;
  for (const std::string_view part : Split(head.Header("cookie"), ';')) {
    const std::string_view pair = Trim(part);
    const std::size_t equals = pair.find('=');
    if (equals == pair.npos || pair.substr(0, equals) != CookieName(head)) continue;
    shown.session = std::string(pair.substr(equals + 1));
    ++times;
  }
  if (times > 1) shown.session = "";
  return shown;
}

std::string SessionCookie(const Request& head, std::string_view secret, std::int64_t seconds) {
  return Format("{}={}; Path=/; Max-Age={}; HttpOnly; SameSite=Strict{}", CookieName(head), secret,
                seconds, head.secure ? "; Secure" : "");
}

}  // namespace stepscope
