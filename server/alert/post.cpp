#include "server/alert/post.h"

#include <utility>

#include "core/base/clock.h"
#include "core/base/event.h"

namespace stepscope {
namespace {

constexpr std::size_t kAnswerBytes = 64 * 1024;

Result<WebhookTarget> Find(const std::string& url, const AddressPolicy& policy, NameLookup& lookup,
                           SteadyTime deadline, const std::stop_token& stop) {
  const Event stopped;
  if (!stopped) return Unavailable("looking up a name: no event descriptor");
  const std::stop_callback cut(stop, [&] { stopped.Set(); });
  return FindTarget(url, policy, [&](const std::string& host) {
    return lookup.Find(host, {deadline, stopped.descriptor()});
  });
}

}  // namespace

Result<HttpAnswer> PostToTarget(const std::string& url, const HttpRequest& request,
                                const PostOptions& options, NameLookup& lookup,
                                const std::stop_token& stop) {
  const SystemClock clock;
  const SteadyTime deadline = clock.Steady() + options.deadline;
  auto target = Find(url, options.policy, lookup, deadline, stop);
  if (!target) return target.error();
  const auto client =
      HttpClient::Make(std::move(target->url), {.request_limit = deadline - clock.Steady(),
                                                .answer_bytes = kAnswerBytes,
                                                .cut_answer = true,
                                                .tls = {.ca_file = options.ca_file},
                                                .addresses = std::move(target->addresses)});
  if (!client) return client.error();
  const std::stop_callback cut(stop, [&] { (*client)->Stop(); });
  return (*client)->Send(request);
}

}  // namespace stepscope
