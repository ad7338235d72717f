#include "core/wire/compress.h"

#include <zstd.h>

#include <memory>

namespace stepscope {
namespace {

struct Free {
  void operator()(ZSTD_CCtx* context) const { ZSTD_freeCCtx(context); }
  void operator()(ZSTD_DCtx* context) const { ZSTD_freeDCtx(context); }
};

// Making a context costs more than compressing a small frame, so each thread keeps its own.
ZSTD_CCtx& Compressor() {
  thread_local const std::unique_ptr<ZSTD_CCtx, Free> context(ZSTD_createCCtx());
  return *context;
}

ZSTD_DCtx& Decompressor() {
  thread_local const std::unique_ptr<ZSTD_DCtx, Free> context(ZSTD_createDCtx());
  return *context;
}

}  // namespace

// The output buffer may be much larger than what is needed, so it is not cleared.
std::string Compress(std::string_view bytes, int level) {
  const std::size_t most = ZSTD_compressBound(bytes.size());
  const auto out = std::make_unique_for_overwrite<char[]>(most);
  const std::size_t size =
      ZSTD_compressCCtx(&Compressor(), out.get(), most, bytes.data(), bytes.size(), level);
  assert(ZSTD_isError(size) == 0);
  return {out.get(), size};
}

// Bytes whose own header declares another size get no memory.
Result<std::string> Decompress(std::string_view bytes, std::size_t size) {
  if (ZSTD_getFrameContentSize(bytes.data(), bytes.size()) != size) {
    return Invalid("compressed bytes: damaged");
  }
  std::string out(size, '\0');
  const std::size_t got =
      ZSTD_decompressDCtx(&Decompressor(), out.data(), out.size(), bytes.data(), bytes.size());
  if (ZSTD_isError(got) != 0 || got != size) return Invalid("compressed bytes: damaged");
  return out;
}

}  // namespace stepscope
