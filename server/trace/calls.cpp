#include "server/trace/calls.h"

#include <algorithm>
#include <numeric>
#include <unordered_map>

#include "core/base/text.h"
#include "server/trace/trace_json.h"

namespace stepscope {
namespace {

constexpr std::string_view kStepMark = "ProfilerStep#";

bool Nests(const Trace& trace, const TraceSpan& span) {
  switch (span.kind) {
    case SpanKind::kPython:
    case SpanKind::kOperator:
    case SpanKind::kLaunch:
      return !trace.tracks[span.track].on_device;
    case SpanKind::kAnnotation:
      return !trace.tracks[span.track].on_device && !trace.NameOf(span).starts_with(kStepMark);
    default:
      return false;
  }
}

std::string ThreadName(const TraceTrack& track) {
  const std::string& named = track.thread_name.empty() ? track.thread : track.thread_name;
  return track.process.empty() ? named : Format("{} of {}", named, track.process);
}

class CallTreeMaker {
 public:
  explicit CallTreeMaker(const TraceLinks& links)
      : links_(links), trace_(links.trace()), node_of_(trace_.spans.size(), kNone) {}

  CallTree Make() {
    for (std::uint32_t i = 0; i < trace_.spans.size(); ++i) {
      if (Nests(trace_, trace_.spans[i])) Add(i);
    }
    AddDeviceWork();
    SumUp();
    return Shortened();
  }

 private:
  static constexpr std::uint32_t kNone = TraceLinks::kNone;

  struct Key {
    std::uint32_t parent = 0, name = 0;
    SpanKind kind = SpanKind::kOther;
    bool operator==(const Key&) const = default;
  };
  struct HashKey {
    std::size_t operator()(const Key& key) const {
      const std::uint64_t both = (std::uint64_t{key.parent} << 32) | key.name;
      return std::hash<std::uint64_t>()(both * 16 + static_cast<std::uint64_t>(key.kind));
    }
  };
  // A span that is not over.
  struct Open {
    std::uint32_t node = 0;
    std::int64_t end_ns = 0;
  };

  void Add(std::uint32_t i) {
    const TraceSpan& span = trace_.spans[i];
    if (span.track != track_ || open_.empty()) BeginThread(span.track);
    while (open_.size() > 1 && open_.back().end_ns <= span.start_ns) open_.pop_back();
    const Open outer = open_.back();
    const std::uint32_t node = NodeFor({outer.node, span.name, span.kind});
    node_of_[i] = node == kNone ? outer.node : node;
    if (node == kNone) {
      ++tree_.not_told;
      return;
    }
    const std::int64_t end_ns = std::min(span.end_ns(), outer.end_ns);
    const std::int64_t length_ns = std::max<std::int64_t>(end_ns - span.start_ns, 0);
    ++tree_.nodes[node].calls;
    tree_.nodes[node].total_ns += length_ns;
    tree_.nodes[outer.node].inner_ns += length_ns;
    if (open_.size() == 1) tree_.nodes[outer.node].total_ns += length_ns;
    open_.push_back({node, end_ns});
  }

  void BeginThread(std::uint16_t track) {
    track_ = track;
    CallNode thread{.parent = -1, .name = ThreadName(trace_.tracks[track])};
    thread.calls = 1;
    tree_.nodes.push_back(std::move(thread));
    names_.push_back(0);
    open_.assign(1, {static_cast<std::uint32_t>(tree_.nodes.size() - 1), INT64_MAX});
  }

  // kNone where there is no room for another one.
  std::uint32_t NodeFor(const Key& key) {
    if (open_.size() > kMostCallDepth) return kNone;
    const auto known = known_.find(key);
    if (known != known_.end()) return known->second;
    if (tree_.nodes.size() >= kMostCallPaths) return kNone;
    const auto node = static_cast<std::uint32_t>(tree_.nodes.size());
    known_.emplace(key, node);
    CallNode& fresh = tree_.nodes.emplace_back();
    fresh.parent = std::int64_t{key.parent};
    fresh.kind = key.kind;
    names_.push_back(key.name);
    return node;
  }

  void AddDeviceWork() {
    for (const TraceSpan& work : trace_.spans) {
      if (!IsDeviceWork(work.kind)) continue;
      const std::uint32_t by = links_.OperatorOf(work);
      if (by == kNone || node_of_[by] == kNone) {
        tree_.unlinked_ns += work.duration_ns;
      } else {
        tree_.nodes[node_of_[by]].device_self_ns += work.duration_ns;
      }
    }
  }

  // Children stand behind their parents.
  void SumUp() {
    for (std::size_t i = tree_.nodes.size(); i-- > 0;) {
      CallNode& node = tree_.nodes[i];
      node.device_total_ns += node.device_self_ns;
      if (node.parent < 0) continue;
      tree_.nodes[static_cast<std::size_t>(node.parent)].device_total_ns += node.device_total_ns;
    }
  }

  // The nodes with the most time: no parent has less than its child. Then by depth first, the
  // longest first among those of one parent.
  CallTree Shortened() {
    std::vector<CallNode>& all = tree_.nodes;
    std::vector<std::uint32_t> order(all.size());
    std::iota(order.begin(), order.end(), 0);
    const auto time = [&](std::uint32_t i) { return all[i].total_ns + all[i].device_total_ns; };
    std::ranges::stable_sort(order, std::ranges::greater(), time);
    if (order.size() > kMostCallNodes) order.resize(kMostCallNodes);
    std::vector<std::vector<std::uint32_t>> children(all.size() + 1);
    for (const std::uint32_t i : order) {
      children[all[i].parent < 0 ? all.size() : std::size_t(all[i].parent)].push_back(i);
    }
    CallTree tree{.nodes = {},
                  .left_out = all.size() - order.size(),
                  .not_told = tree_.not_told,
                  .unlinked_ns = tree_.unlinked_ns};
    std::vector<std::pair<std::uint32_t, std::int64_t>> next;  // nodes and their parents' new place
    const auto follow = [&](std::size_t parent, std::int64_t place) {
      for (auto i = children[parent].rbegin(); i != children[parent].rend(); ++i) {
        next.emplace_back(*i, place);
      }
    };
    follow(all.size(), -1);
    while (!next.empty()) {
      const auto [node, parent] = next.back();
      next.pop_back();
      const auto place = static_cast<std::int64_t>(tree.nodes.size());
      tree.nodes.push_back(std::move(all[node]));
      tree.nodes.back().parent = parent;
      if (parent >= 0) tree.nodes.back().name = trace_.names[names_[node]];
      follow(node, place);
    }
    return tree;
  }

  const TraceLinks& links_;
  const Trace& trace_;
  CallTree tree_;
  std::vector<std::uint32_t> node_of_;  // by span
  // By node: names are long, and most nodes may be left out in the end.
  std::vector<std::uint32_t> names_;
  std::unordered_map<Key, std::uint32_t, HashKey> known_;
  std::vector<Open> open_;  // the thread, then the spans that are not over, the outermost first
  int track_ = -1;
};

}  // namespace

CallTree MakeCallTree(const TraceLinks& links) {
  return CallTreeMaker(links).Make();
}

OrderedJson ToJson(const CallTree& tree) {
  OrderedJson nodes = OrderedJson::array();
  for (const CallNode& node : tree.nodes) {
    const bool thread = node.parent < 0;
    nodes.push_back({{"parent", thread ? OrderedJson() : OrderedJson(node.parent)},
                     {"name", node.name},
                     {"kind", thread ? std::string_view("thread") : ToText(node.kind)},
                     {"calls", node.calls},
                     {"total_seconds", SecondsOf(node.total_ns)},
                     {"self_seconds", SecondsOf(node.total_ns - node.inner_ns)},
                     {"device_total_seconds", SecondsOf(node.device_total_ns)},
                     {"device_self_seconds", SecondsOf(node.device_self_ns)}});
  }
  return {{"left_out", tree.left_out},
          {"not_told_spans", tree.not_told},
          {"device_unlinked_seconds", SecondsOf(tree.unlinked_ns)},
          {"nodes", std::move(nodes)}};
}

}  // namespace stepscope
