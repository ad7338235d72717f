#include "agent/traces/pack_trace.h"

#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cctype>
#include <filesystem>
#include <system_error>
#include <utility>

#include "core/base/nameless_file.h"
#include "core/base/text.h"
#include "core/wire/compress.h"
#include "core/wire/crc32c.h"

namespace stepscope {
namespace {

constexpr std::size_t kPieceBytes = 1024 * 1024;
constexpr std::string_view kPacked[] = {"\x1f\x8b", "\x28\xb5\x2f\xfd"};

Descriptor OpenTemporary() {
  std::error_code no_folder;
  Descriptor file = OpenNamelessFile(std::filesystem::temp_directory_path(no_folder).string());
  return file ? std::move(file) : Descriptor(memfd_create("trace", MFD_CLOEXEC));
}

}  // namespace

bool IsPackedTrace(std::string_view bytes) {
  return std::ranges::any_of(kPacked,
                             [&](std::string_view magic) { return bytes.starts_with(magic); });
}

std::size_t PackedBody::Read(std::uint64_t at, std::span<char> into) const {
  const ssize_t got = pread(file.get(), into.data(), into.size(), off_t(at));
  return got < 0 ? 0 : std::size_t(got);
}

Result<PackedBody> PackTrace(const ReadTraceBytes& read, std::size_t most) {
  PackedBody packed{OpenTemporary()};
  if (!packed.file) return Unavailable("there is no place for it while it is packed");
  std::string piece(kPieceBytes, '\0');
  bool as_it_is = false;
  for (bool first = true;; first = false) {
    const std::string_view got(piece.data(), read(piece));
    if (got.empty()) break;
    if (first) as_it_is = IsPackedTrace(got);
    const std::string sent = as_it_is ? std::string(got) : Compress(got);
    const Status written = WriteAllAt(packed.file, sent, packed.bytes);
    if (!written) return written.error();
    packed.bytes += sent.size();
    packed.crc32c = Crc32c(sent, packed.crc32c);
    if (packed.bytes > most) {
      return Invalid(
          Format("packed it has more than {} MiB; record fewer steps at once", most / 1024 / 1024));
    }
  }
  return packed;
}

std::string QueryEncoded(std::string_view text) {
  std::string encoded;
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    const bool plain = std::isalnum(byte) != 0 || c == '-' || c == '_' || c == '.';
    encoded += plain ? std::string(1, c) : Format("%{:02X}", byte);
  }
  return encoded;
}

}  // namespace stepscope
