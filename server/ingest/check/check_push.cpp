#include "server/ingest/check/check_push.h"

#include <map>

#include "core/base/text.h"
#include "core/wire/table_codec.h"
#include "server/ingest/check/check_table.h"
#include "server/store/jobs/clock_suspects.h"

namespace stepscope {
namespace {

struct FrameSchema {
  std::shared_ptr<const Schema> schema;
  std::shared_ptr<const std::string> encoded;  // set where it rode along with this push
  std::int64_t job_id = 0;                     // set where it did not
};

// A push while its frames are checked.
struct PushCheck {
  const LoadSchema& load;
  std::map<std::uint64_t, FrameSchema> schemas = {};  // by hash: rode along, or loaded
  std::optional<PushRefusal> refusal = {};
};

// Null with a refusal set, when the push cannot be judged. A schema of an earlier frame of this
// push is stored with each frame that needs it: the frame that brought it may yet be refused.
FrameSchema SchemaOf(const Frame& frame, const KnownSchema& recalled, PushCheck& check) {
  if (frame.schema) {
    return {std::make_shared<const Schema>(*frame.schema),
            std::make_shared<const std::string>(EncodeSchema(*frame.schema)), 0};
  }
  const auto found = check.schemas.find(frame.head.schema_hash);
  if (found != check.schemas.end()) return found->second;
  if (recalled.schema) return {recalled.schema, nullptr, recalled.job_id};
  const Result<KnownSchema> loaded = check.load(frame.head);
  if (!loaded) {
    check.refusal = {503, "unavailable", loaded.error().message};
    return {};
  }
  if (!loaded->schema) {
    check.refusal = UnknownSchema(frame.head.sequence);
    return {};
  }
  return check.schemas[frame.head.schema_hash] = {loaded->schema, nullptr, loaded->job_id};
}

CheckedFrame CheckTableFrame(Frame frame, const KnownSchema& recalled, PushCheck& check) {
  const std::uint64_t sequence = frame.head.sequence;
  CheckedFrame checked{sequence, sequence, {}};
  const FrameSchema known = SchemaOf(frame, recalled, check);
  if (!known.schema) return checked;
  TableFrame table;
  table.kind = frame.head.kind;
  table.schema_hash = frame.head.schema_hash;
  table.payload = std::move(frame.payload);
  table.clock_suspect = IsSuspectOffset(frame.head.clock_offset_us);
  // A known schema was checked when it rode along.
  std::optional<TableFault> fault =
      frame.schema ? CheckSchema(table.kind, *known.schema) : CheckKind(table.kind, *known.schema);
  if (!fault) fault = CheckTable(*known.schema, table);
  if (fault) {
    checked.content = Rejected(sequence, fault->code, fault->detail);
    return checked;
  }
  table.schema = known.encoded;
  table.schema_job_id = known.job_id;
  if (frame.schema) check.schemas[table.schema_hash] = known;
  checked.content = std::move(table);
  return checked;
}

template <typename Content>
CheckedFrame Parsed(std::uint64_t sequence, Result<Content> content, const char* code) {
  if (!content) return {sequence, sequence, Rejected(sequence, code, content.error().message)};
  return {sequence, sequence, std::move(*content)};
}

CheckedFrame CheckFrame(Frame frame, const KnownSchema& recalled, PushCheck& check) {
  const std::uint64_t sequence = frame.head.sequence;
  if (!IsSaneTime(ToMicros(frame.head.created))) {
    return {sequence, sequence,
            Rejected(sequence, "clock", "the node's clock is outside the years 2000 to 2099")};
  }
  switch (frame.head.kind) {
    case FrameKind::kTicks:
    case FrameKind::kSteps:
    case FrameKind::kAnnotations:
    case FrameKind::kSpans:
      return CheckTableFrame(std::move(frame), recalled, check);
    case FrameKind::kLifecycle:
      return Parsed(sequence, ParseLifecycle(frame.payload), "bad-lifecycle");
    case FrameKind::kLost: {
      CheckedFrame lost = Parsed(sequence, ParseLostRange(frame.payload, sequence), "bad-lost");
      if (const auto* range = std::get_if<LostRange>(&lost.content)) lost.last = range->last;
      return lost;
    }
    case FrameKind::kLogLines:
      break;
  }
  return {sequence, sequence,
          Rejected(sequence, "unknown-kind",
                   Format("{} are not taken by this service", ToText(frame.head.kind)))};
}

}  // namespace

PushRefusal UnknownSchema(std::uint64_t sequence) {
  return {409, "unknown-schema",
          Format("frame {}: its schema is not known here; send it along", sequence)};
}

CheckOfPush CheckPush(ReceivedPush received, const LoadSchema& load) {
  if (received.refusal) return std::move(*received.refusal);
  PushCheck check{load};
  CheckedPush push = std::move(received.push);
  for (ReceivedPush::Part& part : received.parts) {
    if (!push.frames.empty() && part.sequence <= push.frames.back().last) {
      return BadFrame("frames are not in order");
    }
    if (auto* const frame = std::get_if<Frame>(&part.frame)) {
      push.frames.push_back(CheckFrame(std::move(*frame), part.schema, check));
    } else {
      push.frames.push_back(
          {part.sequence, part.sequence, std::get<RejectedFrame>(std::move(part.frame))});
    }
    if (check.refusal) return std::move(*check.refusal);
  }
  return push;
}

}  // namespace stepscope
