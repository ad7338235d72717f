#include "server/app/commands/tls_folder.h"

#include <unistd.h>

#include <filesystem>

#include "core/base/text.h"
#include "server/app/tls_files.h"

namespace stepscope {
namespace {

constexpr int kAuthorityDays = 3650;
constexpr std::size_t kLongestCertificateName = 64;  // bytes

bool IsThere(const std::string& path) {
  std::error_code ignored;
  return std::filesystem::exists(path, ignored);
}

}  // namespace

Result<CertificateAndKey> LoadAuthority(const std::string& folder) {
  auto certificate = ReadWhole(folder + "/ca.crt");
  if (!certificate) return certificate.error();
  auto key = ReadWhole(folder + "/ca.key");
  if (!key) return key.error();
  return CertificateAndKey{std::move(*certificate), std::move(*key)};
}

Result<CertificateAndKey> FindAuthority(const std::string& folder, Time now) {
  if (IsThere(folder + "/ca.crt") || IsThere(folder + "/ca.key")) return LoadAuthority(folder);
  const std::string name =
      Format("Stepscope authority of {}", HostName()).substr(0, kLongestCertificateName);
  auto made = MakeAuthority(name, {now, kAuthorityDays});
  if (!made) return made;
  if (Status saved = SaveCredentials(folder + "/ca", *made, false); !saved) return saved.error();
  return made;
}

Status SaveCredentials(const std::string& path, const CertificateAndKey& made, bool replace) {
  const FileToWrite files[] = {{path + ".key", made.key, true, replace},
                               {path + ".crt", made.certificate, false, replace}};
  for (const FileToWrite& file : files) {
    if (!replace && IsThere(file.path)) {
      return Conflict(Format("{} exists; --force replaces it", file.path));
    }
  }
  for (const FileToWrite& file : files) {
    if (Status written = WriteWhole(file); !written) return written;
  }
  return {};
}

Result<int> ReadDays(const std::string& text) {
  const auto days = ParseInt(text, "--days");
  if (days && *days >= 1 && *days <= kAuthorityDays) return static_cast<int>(*days);
  return Invalid(Format("--days {}: 1 to {} is wanted", Printable(text, 40), kAuthorityDays));
}

std::string AbsolutePath(const std::string& path) {
  std::error_code error;
  const auto absolute = std::filesystem::absolute(path, error);
  return error ? path : absolute.lexically_normal().string();
}

std::string HostName() {
  char name[256] = {};
  gethostname(name, sizeof name - 1);
  return name;
}

}  // namespace stepscope
