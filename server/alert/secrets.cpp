#include "server/alert/secrets.h"

#include <fcntl.h>
#include <openssl/evp.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <memory>

#include "core/base/random.h"
#include "core/base/text.h"

namespace stepscope {
namespace {

constexpr std::size_t kKeyBytes = 32, kNonceBytes = 12, kTagBytes = 16;
// The version is in front of everything sealed, and authenticated with it.
constexpr std::string_view kVersion = "s1";

using Cipher = std::unique_ptr<EVP_CIPHER_CTX, decltype(&EVP_CIPHER_CTX_free)>;

unsigned char* Bytes(std::string& text) {
  return reinterpret_cast<unsigned char*>(text.data());
}
const unsigned char* Bytes(std::string_view text) {
  return reinterpret_cast<const unsigned char*>(text.data());
}

Error Failed(std::string_view what, const std::string& file) {
  return Internal(Format("key file {}: {}: {}", file, what, std::strerror(errno)));
}

class File {
 public:
  explicit File(int descriptor) : descriptor_(descriptor) {}
  File(const File&) = delete;
  ~File() {
    if (descriptor_ >= 0) close(descriptor_);
  }
  int descriptor() const { return descriptor_; }
  bool ok() const { return descriptor_ >= 0; }

 private:
  int descriptor_;
};

// The file gets its name when it is complete: whoever finds it finds all of it, and of two programs
// the first wins.
Status MakeKeyFile(const std::string& path) {
  const std::string made = path + "." + ToHex(RandomBytes(8));
  const std::string line = ToBase64(RandomBytes(kKeyBytes)) + "\n";
  {
    const File file(open(made.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600));
    if (!file.ok()) return Failed("cannot be made", path);
    const auto written = write(file.descriptor(), line.data(), line.size());
    const bool whole =
        written == static_cast<ssize_t>(line.size()) && fsync(file.descriptor()) == 0;
    if (!whole) {
      unlink(made.c_str());
      return Failed("cannot be written", path);
    }
  }
  const bool named = link(made.c_str(), path.c_str()) == 0 || errno == EEXIST;
  unlink(made.c_str());
  return named ? Status() : Status(Failed("cannot be made", path));
}

Result<std::string> ReadKeyFile(const std::string& path) {
  const File file(open(path.c_str(), O_RDONLY | O_CLOEXEC));
  if (!file.ok()) return Failed("cannot be read", path);
  struct stat facts {};
  if (fstat(file.descriptor(), &facts) != 0) return Failed("cannot be read", path);
  if ((facts.st_mode & 077) != 0) {
    return Invalid(Format("key file {}: others may read it; chmod 600 it", path));
  }
  char text[256];
  const auto size = read(file.descriptor(), text, sizeof text);
  if (size < 0) return Failed("cannot be read", path);
  const auto key = FromBase64(Trim({text, static_cast<std::size_t>(size)}));
  if (!key.ok() || key->size() != kKeyBytes) {
    return Invalid(Format("key file {}: holds no key of {} bytes in base64", path, kKeyBytes));
  }
  return *key;
}

}  // namespace

Result<SecretBox> SecretBox::Open(const std::string& key_file) {
  if (access(key_file.c_str(), F_OK) != 0 && errno == ENOENT) {
    if (const Status made = MakeKeyFile(key_file); !made.ok()) return made.error();
  }
  auto key = ReadKeyFile(key_file);
  if (!key.ok()) return key.error();
  return SecretBox(std::move(*key));
}

// version | nonce | tag | ciphertext
Result<std::string> SecretBox::Seal(std::string_view secret) const {
  const std::string nonce = RandomBytes(kNonceBytes);
  std::string sealed(secret.size(), '\0'), tag(kTagBytes, '\0');
  const Cipher cipher(EVP_CIPHER_CTX_new(), &EVP_CIPHER_CTX_free);
  int size = 0;
  const bool done =
      cipher &&
      EVP_EncryptInit_ex(cipher.get(), EVP_aes_256_gcm(), nullptr, Bytes(std::string_view(key_)),
                         Bytes(std::string_view(nonce))) == 1 &&
      EVP_EncryptUpdate(cipher.get(), nullptr, &size, Bytes(kVersion),
                        static_cast<int>(kVersion.size())) == 1 &&
      EVP_EncryptUpdate(cipher.get(), Bytes(sealed), &size, Bytes(secret),
                        static_cast<int>(secret.size())) == 1 &&
      EVP_EncryptFinal_ex(cipher.get(), Bytes(sealed) + size, &size) == 1 &&
      EVP_CIPHER_CTX_ctrl(cipher.get(), EVP_CTRL_GCM_GET_TAG, kTagBytes, tag.data()) == 1;
  if (!done) return Internal("webhook secret: cannot be sealed");
  return std::string(kVersion) + nonce + tag + sealed;
}

Result<std::string> SecretBox::Unseal(std::string_view sealed) const {
  const Error wrong = Invalid(
      "webhook secret: was sealed with another key file or is damaged; make the webhook anew");
  const std::size_t head = kVersion.size() + kNonceBytes + kTagBytes;
  if (sealed.size() < head || !sealed.starts_with(kVersion)) return wrong;
  const std::string_view nonce = sealed.substr(kVersion.size(), kNonceBytes);
  std::string tag(sealed.substr(kVersion.size() + kNonceBytes, kTagBytes));
  const std::string_view text = sealed.substr(head);
  std::string secret(text.size(), '\0');
  const Cipher cipher(EVP_CIPHER_CTX_new(), &EVP_CIPHER_CTX_free);
  int size = 0;
  const bool done =
      cipher &&
      EVP_DecryptInit_ex(cipher.get(), EVP_aes_256_gcm(), nullptr, Bytes(std::string_view(key_)),
                         Bytes(nonce)) == 1 &&
      EVP_DecryptUpdate(cipher.get(), nullptr, &size, Bytes(kVersion),
                        static_cast<int>(kVersion.size())) == 1 &&
      EVP_DecryptUpdate(cipher.get(), Bytes(secret), &size, Bytes(text),
                        static_cast<int>(text.size())) == 1 &&
      EVP_CIPHER_CTX_ctrl(cipher.get(), EVP_CTRL_GCM_SET_TAG, kTagBytes, tag.data()) == 1 &&
      EVP_DecryptFinal_ex(cipher.get(), Bytes(secret) + size, &size) == 1;
  if (!done) return wrong;
  return secret;
}

std::string NewWebhookSecret() {
  return "whsec_" + ToBase64(RandomBytes(32));
}

}  // namespace stepscope
