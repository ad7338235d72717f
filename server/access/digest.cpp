#include "server/access/digest.h"

#include <openssl/crypto.h>
#include <openssl/evp.h>
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

struct Sha256Sum::State {
  struct Free {
    void operator()(EVP_MD_CTX* context) const { EVP_MD_CTX_free(context); }
  };
  std::unique_ptr<EVP_MD_CTX, Free> context{EVP_MD_CTX_new()};
};

Sha256Sum::Sha256Sum() : state_(std::make_unique<State>()) {
  EVP_DigestInit_ex(state_->context.get(), EVP_sha256(), nullptr);
}

Sha256Sum::~Sha256Sum() = default;

void Sha256Sum::Add(std::string_view bytes) {
  EVP_DigestUpdate(state_->context.get(), bytes.data(), bytes.size());
}

std::string Sha256Sum::Digest() {
  std::string digest(SHA256_DIGEST_LENGTH, '\0');
  EVP_DigestFinal_ex(state_->context.get(), reinterpret_cast<unsigned char*>(digest.data()),
                     nullptr);
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
