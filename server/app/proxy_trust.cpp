#include "server/app/proxy_trust.h"

#include <fstream>
#include <iterator>

#include "core/base/text.h"

namespace stepscope {
namespace {

constexpr std::size_t kMostSecret = 1024;

Result<std::string> ReadSecret(const std::string& path) {
  if (path.empty()) return std::string();
  std::ifstream file(path, std::ios::binary);
  std::string text{std::istreambuf_iterator<char>(file), {}};
  if (!file.is_open()) return Invalid(Format("--proxy-secret-file {} cannot be read", path));
  if (text.size() <= kMostSecret && !Trim(text).empty()) return text;
  return Invalid(Format("--proxy-secret-file {}: one line with the secret is wanted", path));
}

}  // namespace

Result<ProxyTrust> LoadProxyTrust(const Settings& settings) {
  const Result<std::string> secret = ReadSecret(settings.proxy_secret_file);
  if (!secret) return secret.error();
  Result<ProxyTrust> trust =
      ReadProxyTrust(settings.trusted_proxy, *secret, settings.proxy_certificate);
  if (!trust) return Invalid("--trusted-proxy: " + trust.error().message);
  return trust;
}

}  // namespace stepscope
