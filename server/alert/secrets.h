#pragma once

#include <string>
#include <string_view>

#include "core/base/result.h"

namespace stepscope {

// Seals webhook secrets for the database with the key file of the data folder (AES-256-GCM), so
// that a copy of the database alone tells nobody how to sign. Safe from any thread.
class SecretBox {
 public:
  // Makes the key file when there is none, readable by its owner alone. Errors name the file: it
  // can be read by others, holds no key, cannot be made.
  static Result<SecretBox> Open(const std::string& key_file);

  Result<std::string> Seal(std::string_view secret) const;
  // Invalid when it was sealed with another key or changed since.
  Result<std::string> Unseal(std::string_view sealed) const;

 private:
  explicit SecretBox(std::string key) : key_(std::move(key)) {}

  std::string key_;  // 32 bytes
};

// "whsec_" and 32 random bytes in base64.
std::string NewWebhookSecret();

}  // namespace stepscope
