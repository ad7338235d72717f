#include "server/edge/address.h"

#include <arpa/inet.h>
#include <sys/un.h>

#include "core/base/text.h"

namespace stepscope {
namespace {

constexpr std::string_view kUnix = "unix:";
constexpr std::size_t kMostPath = sizeof(sockaddr_un::sun_path) - 1;

Error Wrong(std::string_view text) {
  return Invalid(Format("{}: HOST:PORT such as 127.0.0.1:8080, or unix:/PATH is wanted",
                        Printable(text, 200)));
}

Result<ListenAddress> ReadPath(std::string_view text) {
  const std::string_view path = text.substr(kUnix.size());
  if (!path.starts_with('/')) return Wrong(text);
  if (path.size() <= kMostPath) return ListenAddress{.path = std::string(path)};
  return Invalid(Format("{}: the path of a unix socket has at most {} bytes", Printable(text, 200),
                        kMostPath));
}

bool IsLoopback(const std::string& host) {
  in_addr address{};
  if (inet_pton(AF_INET, host.c_str(), &address) == 1) return ntohl(address.s_addr) >> 24 == 127;
  return host == "localhost" || host == "::1";
}

}  // namespace

bool ListenAddress::local() const {
  return !path.empty() || IsLoopback(host);
}

std::string ListenAddress::text() const {
  if (!path.empty()) return std::string(kUnix) + path;
  const bool six = host.find(':') != std::string::npos;
  return six ? Format("[{}]:{}", host, port) : Format("{}:{}", host, port);
}

Result<ListenAddress> ParseListenAddress(std::string_view text) {
  if (text.starts_with(kUnix)) return ReadPath(text);
  const std::size_t colon = text.rfind(':');
  if (colon == std::string_view::npos || colon == 0) return Wrong(text);
  const Result<std::int64_t> port = ParseInt(text.substr(colon + 1), "port");
  if (!port || *port < 0 || *port > 65'535) return Wrong(text);
  std::string_view host = text.substr(0, colon);
  const bool bracketed = host.starts_with('[') && host.ends_with(']');
  if (bracketed) host = host.substr(1, host.size() - 2);
  if (host.empty() || (!bracketed && host.find(':') != std::string_view::npos)) return Wrong(text);
  return ListenAddress{.host = std::string(host), .port = static_cast<int>(*port)};
}

}  // namespace stepscope
