#pragma once

// Changes valid bytes so that they are almost right.

#include <array>
#include <random>
#include <string>
#include <string_view>

namespace stepscope {

// Tokens that most often lead two parsers of HTTP to different results.
inline constexpr std::array<std::string_view, 24> kTokens = {"\r\n",
                                                             "\n",
                                                             "\r",
                                                             std::string_view("\0", 1),
                                                             " ",
                                                             "\t",
                                                             ":",
                                                             "%00",
                                                             "%",
                                                             "#",
                                                             "\x80",
                                                             "\x7f",
                                                             "\r\n\r\n",
                                                             "Content-Length: 5\r\n",
                                                             "Transfer-Encoding: chunked\r\n",
                                                             "Host: b\r\n",
                                                             "HTTP/1.1",
                                                             "Connection: close\r\n",
                                                             "0\r\n\r\n",
                                                             "ffffffff",
                                                             ";x=y",
                                                             "-",
                                                             "+",
                                                             "0x"};

// Makes one to four changes: a byte altered, a token inserted or put over others, a part left out
// or doubled.
inline std::string Mutate(std::string_view from, std::mt19937& dice) {
  std::string text(from);
  for (std::size_t changes = 1 + dice() % 4; changes > 0; --changes) {
    const std::size_t at = dice() % (text.size() + 1);
    const std::size_t count = dice() % 8;
    const std::string_view token = kTokens[dice() % kTokens.size()];
    switch (dice() % 5) {
      case 0:
        if (at < text.size()) text[at] = static_cast<char>(dice());
        break;
      case 1:
        text.insert(at, token);
        break;
      case 2:
        text.replace(at, token.size(), token);
        break;
      case 3:
        text.erase(at, count);
        break;
      default:
        text.insert(at, text.substr(at, count));
    }
  }
  return text;
}

}  // namespace stepscope
