#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace stepscope {

// Whether an Accept-Encoding header takes this coding: q=0 refuses it, "*" stands for those that
// are not named. An empty header takes none.
bool Accepts(std::string_view accept_encoding, std::string_view coding);

// Packs into gzip format, quick rather than small. Nothing when zlib fails.
std::optional<std::string> Gzip(std::string_view text);

}  // namespace stepscope
