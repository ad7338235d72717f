// A head and the body that it announces: the result does not depend on how the bytes are cut and
// keeps the limits. Another parser accepts what we accept, reads the same request and ends at the
// same byte: request smuggling lives on parsers that disagree.

#include <algorithm>

#include "tests/fuzz/fuzz.h"
#include "tests/fuzz/peer.h"
#include "tests/support/edge_bytes.h"

namespace stepscope {
namespace {

constexpr BodyLimits kLimits{.most_bytes = 1'000, .inflate = {.most_bytes = 4'000}};

struct Ours {
  Head head;
  std::string body;
  std::size_t bytes = 0;
};

std::optional<Ours> ReadOurs(std::string_view bytes) {
  HeadReader reader;
  Ours ours;
  if (reader.Feed(bytes, ours.bytes) != Progress::kDone) return std::nullopt;
  ours.head = reader.head();
  BodyReader body(ours.head, kLimits);
  std::size_t consumed = 0;
  if (body.Feed(bytes.substr(ours.bytes), consumed) != Progress::kDone) return std::nullopt;
  ours.bytes += consumed;
  ours.body = body.Take();
  return ours;
}

void CheckCuts(std::string_view bytes, std::mt19937& dice) {
  const std::string whole = HeadOutcome({bytes});
  RequireSame(HeadOutcome(CutEverywhere(bytes)), whole, "a head is the same byte by byte");
  RequireSame(HeadOutcome(CutAnyhow(bytes, dice, 20)), whole, "a head is the same in pieces");
  HeadReader reader;
  std::size_t head = 0;
  if (reader.Feed(bytes, head) != Progress::kDone) return;
  const std::string_view rest = bytes.substr(head);
  const std::string body = BodyOutcome(reader.head(), kLimits, {rest});
  RequireSame(BodyOutcome(reader.head(), kLimits, CutEverywhere(rest)), body,
              "a body is the same byte by byte");
  RequireSame(BodyOutcome(reader.head(), kLimits, CutAnyhow(rest, dice, 20)), body,
              "a body is the same in pieces");
}

void CheckHeaders(const Head& head, const PeerRequest& peer) {
  for (const auto& [name, value] : head.headers) {
    const auto found = peer.headers.find(name);
    Require(found != peer.headers.end(), "the peer sees every header", name);
    RequireSame(found->second, value, "the peer sees the same value");
  }
}

void CheckAgainst(const PeerRequest& peer, const Ours& ours) {
  RequireSame(peer.method, ours.head.method, "the peer sees the same method");
  const std::string target =
      ours.head.path + (peer.target.size() > ours.head.path.size() ? "?" : "") + ours.head.query;
  RequireSame(peer.target, target, "the peer sees the same target");
  Require(peer.minor_version == ours.head.minor_version, "the peer sees the same version");
  CheckHeaders(ours.head, peer);
  Require(peer.bytes == ours.bytes, "the peer ends the request at the same byte");
  if (ours.head.coding == Coding::kIdentity) {
    RequireSame(peer.body, ours.body, "the peer sees the same body");
  }
  Require(peer.keep_alive || !ours.head.keep_alive, "what stays open stays so for the peer");
}

// A known fault of http-parser: it takes a name that only begins with Transfer-Encoding for that
// header, and then finds no chunks.
bool PeerErrs(const Head& head) {
  return std::ranges::any_of(head.headers, [](const auto& header) {
    return header.first.starts_with("transfer-encoding");
  });
}

void CheckLimits(const Ours& ours) {
  Require(ours.head.bytes <= 16 * 1024, "a head has at most 16 KiB");
  Require(ours.head.path.size() + ours.head.query.size() <= 2 * 1024, "a target at most 2 KiB");
  Require(ours.head.headers.size() <= 64, "a head has at most 64 headers");
  Require(ours.body.size() <= 4'000, "a body is within its limit");
}

}  // namespace
}  // namespace stepscope

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace stepscope;
  const std::string_view bytes = ToBytes(data, size);
  std::mt19937 dice = DiceOf(bytes);
  CheckCuts(bytes, dice);
  const std::optional<Ours> ours = ReadOurs(bytes);
  if (!ours) return 0;
  CheckLimits(*ours);
  if (!PeerKnows(ours->head.method) || PeerErrs(ours->head)) return 0;
  const std::optional<PeerRequest> peer = ReadAsPeer(bytes);
  Require(peer.has_value(), "the peer accepts what we accept");
  CheckAgainst(*peer, *ours);
  return 0;
}
