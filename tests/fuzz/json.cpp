// JSON from outside: within its limits, and written and read again it stays the same.

#include "core/base/json.h"

#include "core/wire/push_answer.h"
#include "tests/fuzz/fuzz.h"

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace stepscope;
  const std::string_view bytes = ToBytes(data, size);
  const Result<Json> json = ParseJson(bytes, {.bytes = 16 * 1024, .depth = 32, .values = 1'000});
  (void)DecodePushAnswer(bytes);
  (void)DecodePushProblem(bytes);
  if (!json) return 0;
  const std::string text = Dump(*json);
  const Result<Json> again = ParseJson(text, {.bytes = 1024 * 1024, .depth = 32, .values = 1'000});
  Require(again.ok(), "what was written is read", text);
  RequireSame(Dump(*again), text, "and it is the same");
  return 0;
}
