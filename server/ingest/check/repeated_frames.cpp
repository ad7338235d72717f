#include "server/ingest/check/repeated_frames.h"

#include <map>
#include <optional>
#include <tuple>

namespace stepscope {
namespace {

using Subject = std::tuple<LifecycleEvent, int, std::int64_t, std::int64_t, std::int64_t>;

}  // namespace

std::vector<bool> RepeatedFrames(const CheckedPush& push, std::size_t from, std::size_t to) {
  std::vector<bool> repeated(to - from, false);
  std::map<Subject, std::optional<std::size_t>> kept;  // the last one behind the first
  for (std::size_t i = from; i < to; ++i) {
    const auto* said = std::get_if<Lifecycle>(&push.frames[i].content);
    if (!said) continue;
    const Subject subject{said->event, said->rank, said->interval_change, said->stop_request,
                          said->window_id};
    const auto [last, is_new] = kept.try_emplace(subject);
    if (is_new) continue;
    if (last->second) repeated[*last->second - from] = true;
    last->second = i;
  }
  return repeated;
}

}  // namespace stepscope
