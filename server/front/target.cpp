#include "server/front/target.h"

#include <algorithm>

#include "core/base/text.h"

namespace stepscope {
namespace {

Result<std::string> Decode(std::string_view text, bool plus_is_blank) {
  std::string decoded;
  decoded.reserve(text.size());
  for (std::size_t at = 0; at < text.size(); ++at) {
    char byte = text[at];
    if (byte == '%') {
      const Result<std::string> escaped = FromHex(text.substr(at + 1, 2));
      if (!escaped || escaped->size() != 1) return Invalid("not valid percent-encoding");
      byte = escaped->front();
      at += 2;
    } else if (byte == '+' && plus_is_blank) {
      byte = ' ';
    }
    if (static_cast<unsigned char>(byte) < 0x20 || byte == 0x7f) {
      return Invalid("a control character in percent-encoding");
    }
    decoded.push_back(byte);
  }
  return decoded;
}

}  // namespace

Result<std::string> PercentDecode(std::string_view text) {
  return Decode(text, false);
}

Result<QueryParameters> ParseQuery(std::string_view query) {
  QueryParameters parameters;
  if (query.empty()) return parameters;
  for (const std::string_view part : Split(query, '&')) {
    const std::size_t equals = std::min(part.find('='), part.size());
    Result<std::string> name = Decode(part.substr(0, equals), true);
    Result<std::string> value = Decode(part.substr(std::min(equals + 1, part.size())), true);
    if (!name || !value) return Invalid("the query is not valid percent-encoding");
    if (name->empty()) return Invalid("the query has a part without a name");
    if (std::ranges::count(parameters, *name, &QueryParameters::value_type::first) > 0) {
      return Invalid(Format("the query has '{}' twice", Printable(*name, 64)));
    }
    parameters.emplace_back(std::move(*name), std::move(*value));
  }
  return parameters;
}

}  // namespace stepscope
