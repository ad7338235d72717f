#include "server/access/digest.h"

#include <openssl/crypto.h>
#include <openssl/rand.h>
#include <openssl/sha.h>

#include <algorithm>

#include "server/access/base62.h"

namespace stepscope {

std::string Sha256(std::string_view text) {
  std::string digest(SHA256_DIGEST_LENGTH, '\0');
  SHA256(reinterpret_cast<const unsigned char*>(text.data()), text.size(),
         reinterpret_cast<unsigned char*>(digest.data()));
  return digest;
}

bool SameDigest(std::string_view one, std::string_view other) {
  return one.size() == other.size() && CRYPTO_memcmp(one.data(), other.data(), one.size()) == 0;
}

Result<std::string> RandomBase62(std::size_t letters) {
  // Larger bytes would make some letters likelier than others.
  constexpr unsigned kEven = 256 - 256 % kBase62.size();
  std::string text;
  while (text.size() < letters) {
    unsigned char bytes[64];
    if (RAND_bytes(bytes, sizeof bytes) != 1) return Internal("no random bytes from OpenSSL");
    for (const unsigned byte : bytes) {
      if (byte < kEven && text.size() < letters) text += kBase62[byte % kBase62.size()];
    }
  }
  return text;
}

bool IsBase62(std::string_view text) noexcept {
  return std::ranges::all_of(text, [](char c) { return kBase62.find(c) != kBase62.npos; });
}

}  // namespace stepscope
