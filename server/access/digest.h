#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <string_view>

#include "core/base/result.h"

namespace stepscope {

// SHA-256, 32 bytes. A fast hash is right here: the hashed texts were drawn at random, so nobody
// can guess them.
std::string Sha256(std::string_view text);

// Makes the digest of bytes that come piece by piece.
class Sha256Sum {
 public:
  Sha256Sum();
  ~Sha256Sum();
  void Add(std::string_view bytes);
  std::string Digest();  // once, at the end

 private:
  struct State;
  std::unique_ptr<State> state_;
};

// Whether two digests are the same; takes as long when they differ at the first byte.
bool SameDigest(std::string_view one, std::string_view other);

// Letters and digits, each drawn evenly by the generator of OpenSSL: 5.95 bits apiece.
Result<std::string> RandomBase62(std::size_t letters);

// Whether there are only letters and digits.
bool IsBase62(std::string_view text) noexcept;

}  // namespace stepscope
