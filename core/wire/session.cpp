#include "core/wire/session.h"

#include <openssl/sha.h>

#include <algorithm>

namespace stepscope {

Session SessionInJob(const Session& session, std::string_view job) {
  std::string bytes(session.begin(), session.end());
  bytes += job;
  unsigned char digest[SHA256_DIGEST_LENGTH];
  SHA256(reinterpret_cast<const unsigned char*>(bytes.data()), bytes.size(), digest);
  Session other{};
  std::copy_n(digest, other.size(), other.begin());
  return other;
}

}  // namespace stepscope
