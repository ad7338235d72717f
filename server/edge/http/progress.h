#pragma once

#include <string>
#include <string_view>

namespace stepscope {

// How far a parser of bytes is: it wants more, it has the whole, or it refuses for good.
enum class Progress { kMore, kDone, kFault };

// Why bytes were refused. The detail is written for the client and quotes nothing that is not text.
struct Refusal {
  std::string_view code;  // code of a problem; a constant
  std::string detail;
};

}  // namespace stepscope
