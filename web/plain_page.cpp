// The page of a server that was built without the web UI: it links to the API.
#include "server/api/service/static_file_table.h"

namespace stepscope {
namespace {

constexpr std::string_view kPage =
    "<!doctype html><html lang=\"en\"><meta charset=\"utf-8\"><title>Stepscope</title>"
    "<h1>Stepscope</h1><p>This service was built without its web page (npm was missing, or "
    "STEPSCOPE_WEB=OFF). Everything is in the API:</p>"
    "<ul><li><a href=\"/api/v1/jobs\">jobs</a></li><li><a href=\"/api/v1/rules\">rules</a></li>"
    "<li><a href=\"/readyz\">readiness</a></li><li><a "
    "href=\"/metrics\">metrics</a></li></ul></html>";

constexpr StaticFile kFiles[] = {
    {"/index.html", "text/html; charset=utf-8", kPage, {}, {}, "\"plain-1\""},
};

}  // namespace

std::span<const StaticFile> StaticFiles() {
  return kFiles;
}

}  // namespace stepscope
