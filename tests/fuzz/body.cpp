// Bodies under every framing and coding: the result does not depend on how the bytes are cut and
// keeps the limits; chunks end where another parser ends them. The first byte chooses the kind, the
// next two are a declared length.

#include "tests/fuzz/fuzz.h"
#include "tests/fuzz/peer.h"
#include "tests/support/edge_bytes.h"

namespace stepscope {
namespace {

constexpr BodyLimits kLimits{.most_bytes = 3'000,
                             .inflate = {.most_bytes = 8'000, .most_ratio = 5, .free_bytes = 100}};

Head ReadKind(std::string_view bytes) {
  Head head;
  head.framing = (bytes[0] & 1) != 0 ? Framing::kChunked : Framing::kLength;
  head.coding = (bytes[0] & 2) != 0 ? Coding::kGzip : Coding::kIdentity;
  if (head.framing == Framing::kLength) {
    head.content_length =
        static_cast<unsigned char>(bytes[1]) + 256U * (static_cast<unsigned char>(bytes[2]) % 16);
  }
  return head;
}

void CheckCuts(const Head& head, std::string_view bytes) {
  std::mt19937 dice = DiceOf(bytes);
  const std::string whole = BodyOutcome(head, kLimits, {bytes});
  RequireSame(BodyOutcome(head, kLimits, CutEverywhere(bytes)), whole,
              "a body is the same byte by byte");
  RequireSame(BodyOutcome(head, kLimits, CutAnyhow(bytes, dice, 50)), whole,
              "a body is the same in pieces");
}

void CheckAgainstPeer(std::string_view bytes) {
  constexpr std::string_view kHead =
      "POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n";
  Head head;
  head.framing = Framing::kChunked;
  const std::string ours = BodyOutcome(head, {}, {bytes});
  if (!PeerKnows("POST") || ours.starts_with("refused") || ours.starts_with("more")) return;
  const auto peer = ReadAsPeer(std::string(kHead) + std::string(bytes));
  Require(peer.has_value(), "the peer accepts the chunks that we accept");
  RequireSame(Format("{} bytes: {}", peer->bytes - kHead.size(), peer->body), ours,
              "the peer takes off the same chunks");
}

}  // namespace
}  // namespace stepscope

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace stepscope;
  if (size < 3) return 0;
  const std::string_view bytes = ToBytes(data, size);
  const Head head = ReadKind(bytes);
  CheckCuts(head, bytes.substr(3));
  if (head.framing == Framing::kChunked) CheckAgainstPeer(bytes.substr(3));
  return 0;
}
