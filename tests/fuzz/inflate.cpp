// Compressed bytes: the output is bounded whatever they claim, and does not depend on how they are
// cut. An odd first byte puts a good gzip header in front, so that most inputs reach the data
// behind it.

#include "server/edge/http/inflate.h"

#include "tests/fuzz/fuzz.h"
#include "tests/support/cuts.h"

namespace stepscope {
namespace {

constexpr InflateLimits kLimits{.most_bytes = 20'000, .most_ratio = 10, .free_bytes = 500};
constexpr std::size_t kStep = 1024;  // bytes of input after which the ratio is checked

struct Unpacked {
  Progress progress = Progress::kMore;
  std::string text, code;
};

Unpacked Unpack(const Pieces& pieces) {
  Inflater inflater(kLimits);
  Unpacked unpacked;
  std::size_t packed = 0;
  for (const std::string_view piece : pieces) {
    if (unpacked.progress == Progress::kFault) break;
    unpacked.progress = inflater.Feed(piece, unpacked.text);
    packed += piece.size();
    if (unpacked.progress != Progress::kDone && packed % kStep != 0) continue;
    const std::size_t allowed = kLimits.free_bytes + kLimits.most_ratio * packed;
    Require(unpacked.progress == Progress::kFault || unpacked.text.size() <= allowed,
            "output keeps to the ratio");
  }
  Require(unpacked.text.size() <= kLimits.most_bytes, "output keeps to the limit");
  if (unpacked.progress == Progress::kFault) unpacked.code = inflater.refusal().detail;
  return unpacked;
}

void RequireSameUnpacked(const Unpacked& one, const Unpacked& other) {
  Require(one.progress == other.progress, "every cut ends the same");
  RequireSame(one.code, other.code, "every cut is refused for the same reason");
  if (one.progress != Progress::kFault) RequireSame(one.text, other.text, "and gives the same");
}

}  // namespace
}  // namespace stepscope

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace stepscope;
  if (size == 0) return 0;
  constexpr std::string_view kHeader("\x1f\x8b\x08\0\0\0\0\0\0\xff", 10);
  std::string packed((data[0] & 1) != 0 ? kHeader : std::string_view());
  packed.append(ToBytes(data, size).substr(1));
  std::mt19937 dice = DiceOf(packed);
  const Unpacked whole = Unpack({packed});
  RequireSameUnpacked(whole, Unpack(CutEverywhere(packed)));
  RequireSameUnpacked(whole, Unpack(CutAnyhow(packed, dice, 300)));
  return 0;
}
