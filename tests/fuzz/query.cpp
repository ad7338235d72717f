// Percent-encoding and query strings: decoded text holds no control character, its encoding decodes
// to the same text, and no name comes twice.

#include "server/front/target.h"

#include "core/base/text.h"
#include "tests/fuzz/fuzz.h"

namespace stepscope {
namespace {

std::string Encode(std::string_view text) {
  std::string encoded;
  for (const char byte : text) encoded += Format("%{:02X}", static_cast<unsigned char>(byte));
  return encoded;
}

void RequirePlain(std::string_view text) {
  for (const char byte : text) {
    Require(static_cast<unsigned char>(byte) >= 0x20 && byte != 0x7f, "no control character");
  }
}

void CheckDecode(std::string_view bytes) {
  const Result<std::string> decoded = PercentDecode(bytes);
  if (!decoded) return;
  RequirePlain(*decoded);
  Require(decoded->size() <= bytes.size(), "decoding never grows");
  RequireSame(*PercentDecode(Encode(*decoded)), *decoded, "encoding and decoding give the same");
}

void CheckQuery(std::string_view bytes) {
  const Result<QueryParameters> query = ParseQuery(bytes);
  if (!query) return;
  std::string again;
  for (const auto& [name, value] : *query) {
    RequirePlain(name);
    RequirePlain(value);
    Require(!name.empty(), "every parameter has a name");
    again += Format("{}{}={}", again.empty() ? "" : "&", Encode(name), Encode(value));
  }
  const Result<QueryParameters> read = ParseQuery(again);
  Require(read.ok() && *read == *query, "an encoded query reads the same");
}

}  // namespace
}  // namespace stepscope

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view bytes = stepscope::ToBytes(data, size);
  stepscope::CheckDecode(bytes);
  stepscope::CheckQuery(bytes);
  return 0;
}
