// Answers of a server: the result does not depend on how the bytes are cut, is never larger than
// allowed, and its headers are lines.

#include "core/base/text.h"
#include "core/http/answer_parser.h"
#include "tests/fuzz/fuzz.h"

namespace stepscope {
namespace {

constexpr std::size_t kMostBytes = 200;

std::string Outcome(AnswerParser& parser, AnswerParser::State state) {
  if (state != AnswerParser::State::kDone && state != AnswerParser::State::kCut) {
    return Format("state {}", static_cast<int>(state));
  }
  const HttpAnswer& answer = parser.answer();
  std::string text = Format("{} keeps {}\n", answer.status, parser.reusable());
  for (const auto& [name, value] : answer.headers) text += Format("{}: {}\n", name, value);
  return text + answer.body;
}

void CheckAnswer(const HttpAnswer& answer) {
  Require(answer.body.size() <= kMostBytes, "a body is not larger than allowed");
  for (const auto& [name, value] : answer.headers) {
    Require((name + value).find_first_of("\r\n") == std::string::npos, "a header is one line");
  }
}

void Check(std::string_view bytes, bool cut, bool closes) {
  AnswerParser whole({kMostBytes, cut}), pieces({kMostBytes, cut});
  auto one = whole.Feed(bytes);
  std::mt19937 dice = DiceOf(bytes);
  auto other = AnswerParser::State::kMore;
  for (std::size_t at = 0; at < bytes.size();) {
    const std::size_t count = 1 + dice() % 9;
    other = pieces.Feed(bytes.substr(at, count));
    at += count;
  }
  if (closes) one = whole.End(), other = pieces.End();
  CheckAnswer(whole.answer());
  RequireSame(Outcome(pieces, other), Outcome(whole, one), "an answer is the same in pieces");
}

}  // namespace
}  // namespace stepscope

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace stepscope;
  if (size == 0) return 0;
  Check(ToBytes(data, size).substr(1), (data[0] & 1) != 0, (data[0] & 2) != 0);
  return 0;
}
