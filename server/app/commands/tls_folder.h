#pragma once

#include <string>

#include "core/base/result.h"
#include "core/base/time.h"
#include "server/app/commands/tls_certificate.h"

namespace stepscope {

// Certificates in a folder: ca.crt and ca.key, server.crt and server.key, ...

inline constexpr std::string_view kTlsFolder = "stepscope-tls";

// The authority in the folder. NotFound names the file that is missing.
Result<CertificateAndKey> LoadAuthority(const std::string& folder);

// The authority in the folder, or a new one where there is none. A certificate without its key, or
// a key alone, is an error and not replaced.
Result<CertificateAndKey> FindAuthority(const std::string& folder, Time now);

// Writes path.key, for the owner alone, and path.crt. Conflict when one is there and not to be
// replaced.
Status SaveCredentials(const std::string& path, const CertificateAndKey& made, bool replace);

// The value of --days.
Result<int> ReadDays(const std::string& text);

std::string AbsolutePath(const std::string& path);
std::string HostName();

}  // namespace stepscope
