#include "core/http/authorities.h"

#include <unistd.h>

namespace stepscope {
namespace {

constexpr const char* kPlaces[] = {
    "/etc/ssl/certs/ca-certificates.crt",  // Debian, Ubuntu, Arch, Gentoo
    "/etc/pki/tls/certs/ca-bundle.crt",    // Fedora, RHEL
    "/etc/pki/ca-trust/extracted/pem/tls-ca-bundle.pem",
    "/etc/ssl/ca-bundle.pem",  // SUSE
    "/etc/ssl/cert.pem",       // Alpine
};

}  // namespace

std::string FindAuthorities(const std::string& root) {
  for (const char* place : kPlaces) {
    if (access((root + place).c_str(), R_OK) == 0) return root + place;
  }
  return "";
}

}  // namespace stepscope
