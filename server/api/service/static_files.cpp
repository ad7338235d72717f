// The web UI: files embedded in the program, and its one page for all addresses that it knows.

#include <algorithm>

#include "server/api/http/routes.h"
#include "server/api/service/static_file_table.h"
#include "server/front/gzip.h"
#include "server/front/problem.h"

namespace stepscope {
namespace {

// Addresses of pages: these, and everything below those that end in a slash.
constexpr std::string_view kPages[] = {"/",        "/jobs",     "/jobs/",  "/compare", "/alerts",
                                       "/alerts/", "/settings", "/tokens", "/fleet"};

const StaticFile* FindFile(std::string_view path) {
  const auto files = StaticFiles();
  const auto found = std::ranges::find(files, path, &StaticFile::path);
  return found == files.end() ? nullptr : &*found;
}

bool IsPage(std::string_view path) {
  return std::ranges::any_of(kPages, [&](std::string_view page) {
    return path == page || (page.size() > 1 && page.ends_with('/') && path.starts_with(page));
  });
}

// The ETag of a packed form: a strong ETag stands for the bytes as sent.
std::string Suffixed(std::string_view etag, std::string_view suffix) {
  std::string name(etag);
  if (!suffix.empty() && name.ends_with('"')) name.insert(name.size() - 1, suffix);
  return name;
}

Reply ServeFile(const StaticFile& file, const Request& request) {
  const std::string_view accept = request.Header("accept-encoding");
  const bool brotli = !file.brotli.empty() && Accepts(accept, "br");
  const bool gzip = !brotli && !file.gzip.empty() && Accepts(accept, "gzip");
  const std::string_view body = brotli ? file.brotli : gzip ? file.gzip : file.plain;
  Reply reply{.status = 200,
              .content_type = std::string(file.content_type),
              .body = std::string(body),
              .headers = {{"Vary", "Accept-Encoding"}}};
  if (brotli) reply.headers.emplace_back("Content-Encoding", "br");
  if (gzip) reply.headers.emplace_back("Content-Encoding", "gzip");
  reply.headers.emplace_back("ETag", Suffixed(file.etag, brotli ? "-br" : gzip ? "-gzip" : ""));
  const bool named_by_content = file.path.starts_with("/assets/");
  reply.headers.emplace_back("Cache-Control",
                             named_by_content ? "public, max-age=31536000, immutable" : "no-cache");
  return reply;
}

}  // namespace

Reply AnswerStatic(const Request& request) {
  const std::string_view path = request.path;
  if (const StaticFile* file = FindFile(path)) return ServeFile(*file, request);
  const StaticFile* shell = FindFile("/index.html");
  const bool browser = request.Header("accept").find("text/html") != std::string_view::npos;
  if (shell && IsPage(path)) return ServeFile(*shell, request);
  if (!shell || path.starts_with("/assets/") || !browser) {
    return ToReply(Problem{"not-found", "there is nothing at this path", {}, {}}, request);
  }
  Reply reply = ServeFile(*shell, request);  // the page itself says that it does not exist
  reply.status = 404;
  return reply;
}

}  // namespace stepscope
