#pragma once

#include <string>
#include <vector>

#include "core/base/result.h"
#include "core/base/time.h"

namespace stepscope {

// A certificate and its private key (P-256), both in PEM.
struct CertificateAndKey {
  std::string certificate, key;
};

// The time for which a certificate is good. It begins an hour early, because not all clocks are
// right.
struct GoodFor {
  Time from;
  int days;
};

// Makes an authority that signs itself, and may sign servers and agents but no further authorities.
Result<CertificateAndKey> MakeAuthority(const std::string& name, const GoodFor& time);

// Makes a certificate for a server that is reached under these names and addresses; at least one.
// Invalid when the authority is none. Ends no later than the authority.
Result<CertificateAndKey> MakeServerCertificate(const CertificateAndKey& authority,
                                                const std::vector<std::string>& hosts,
                                                const GoodFor& time);

// Makes a certificate for the agents of one node, which is its common name.
Result<CertificateAndKey> MakeAgentCertificate(const CertificateAndKey& authority,
                                               const std::string& node, const GoodFor& time);

// The end of a certificate, such as "2027-03-01 12:00 UTC". Invalid when it is none.
Result<std::string> EndOf(const std::string& certificate);

}  // namespace stepscope
