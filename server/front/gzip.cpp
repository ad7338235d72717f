#include "server/front/gzip.h"

#include <zlib.h>

#include <charconv>

#include "core/base/text.h"

namespace stepscope {
namespace {

double Quality(std::string_view element) {
  double quality = 1;
  for (const std::string_view part : Split(element, ';')) {
    const std::string_view parameter = Trim(part);
    if (!parameter.starts_with("q=") && !parameter.starts_with("Q=")) continue;
    const std::string_view number = parameter.substr(2);
    const auto [end, fault] =
        std::from_chars(number.data(), number.data() + number.size(), quality);
    if (fault != std::errc()) return 0;
  }
  return quality;
}

}  // namespace

bool Accepts(std::string_view accept_encoding, std::string_view coding) {
  bool any = false;
  for (const std::string_view element : Split(accept_encoding, ',')) {
    const std::string_view name = Trim(element.substr(0, element.find(';')));
    if (name == coding) return Quality(element) > 0;
    if (name == "*") any = Quality(element) > 0;
  }
  return any;
}

std::optional<std::string> Gzip(std::string_view text) {
  constexpr int kGzipFormat = 15 + 16;
  z_stream stream{};
  if (deflateInit2(&stream, 1, Z_DEFLATED, kGzipFormat, 8, Z_DEFAULT_STRATEGY) != Z_OK) {
    return std::nullopt;
  }
  std::string packed(deflateBound(&stream, text.size()), '\0');
  stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(text.data()));
  stream.avail_in = static_cast<uInt>(text.size());
  stream.next_out = reinterpret_cast<Bytef*>(packed.data());
  stream.avail_out = static_cast<uInt>(packed.size());
  const int outcome = deflate(&stream, Z_FINISH);
  packed.resize(stream.total_out);
  deflateEnd(&stream);
  if (outcome != Z_STREAM_END) return std::nullopt;
  return packed;
}

}  // namespace stepscope
