#include "server/alert/sign.h"

#include <openssl/evp.h>
#include <openssl/hmac.h>

#include "core/base/text.h"

namespace stepscope {

Result<std::string> SignWebhook(std::string_view secret, std::string_view id,
                                std::int64_t timestamp_seconds, std::string_view body) {
  constexpr std::string_view kPrefix = "whsec_";
  const auto key = secret.starts_with(kPrefix) ? FromBase64(secret.substr(kPrefix.size()))
                                               : Result<std::string>(Invalid(""));
  if (!key.ok() || key->empty()) {
    return Invalid("webhook secret: is not whsec_ and base64");
  }
  std::string signed_text = Format("{}.{}.", id, timestamp_seconds);
  signed_text += body;
  unsigned char digest[EVP_MAX_MD_SIZE];
  unsigned int size = 0;
  const bool done = HMAC(EVP_sha256(), key->data(), static_cast<int>(key->size()),
                         reinterpret_cast<const unsigned char*>(signed_text.data()),
                         signed_text.size(), digest, &size) != nullptr;
  if (!done) return Internal("webhook message: cannot be signed");
  return "v1," + ToBase64({reinterpret_cast<const char*>(digest), size});
}

}  // namespace stepscope
