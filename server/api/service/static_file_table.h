#pragma once

#include <span>
#include <string_view>

namespace stepscope {

// A file of the web UI, embedded in the program. `gzip` and `brotli` are empty when packing does
// not make the file smaller. `etag` is strong and in quotes; each form needs its own, so a reply
// with a packed form carries it with "-gzip" or "-br" before the last quote.
struct StaticFile {
  std::string_view path;  // "/index.html", "/assets/main-3f2a.js"
  std::string_view content_type, plain, gzip, brotli, etag;
};

// Generated at build time (web/embed.cmake); sorted by path. "/index.html" is always there.
std::span<const StaticFile> StaticFiles();

}  // namespace stepscope
